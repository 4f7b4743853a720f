"""``parlai humod_items``: a HUMOD-like set to be rated, from the dialogues of any ParlAI task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.utils.data import DatatypeHelper

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.humod.items import make_items, replies_of, write_items


@register_script("humod_items")
class HumodItems(ParlaiScript):
    """Draw contexts and random replies, and write them to a file."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The task, and how many contexts of how many turns."""
        parser = ParlaiParser(True, False, "Make a HUMOD-like set to be rated, from the dialogues of any task")
        group = parser.add_argument_group("Items")
        group.add_argument("--out", default="items.jsonl", help="The file to write, one item a line.")
        group.add_argument("--contexts", type=int, default=500, help="How many contexts; two items each.")
        group.add_argument("--min-turns", type=int, default=1, help="Fewest turns of a context.")
        group.add_argument("--max-turns", type=int, default=6, help="Most turns of a context (HUMOD's 6).")
        group.add_argument("--seed", type=int, default=0, help="Decides what is drawn.")
        return parser

    def run(self) -> int:
        """Write the items; returns their number."""
        opt = self.opt
        if not opt.get("task"):
            raise OptionError(
                "--task: name the task whose dialogues are taken, for instance -t empathy:empathetic_dialogues"
            )
        if opt["contexts"] < 1 or not 1 <= opt["min_turns"] <= opt["max_turns"]:
            raise OptionError(
                f"--contexts {opt['contexts']} --min-turns {opt['min_turns']} --max-turns {opt['max_turns']}: "
                "all must be at least 1, and the fewest turns at most the most"
            )
        turns = range(opt["min_turns"], opt["max_turns"] + 1)
        items = make_items(list(replies_of(messages(opt))), opt["contexts"], turns, opt["seed"])
        write_items(items, opt["out"])
        print(f"{len(items):,} items of {opt['contexts']:,} contexts: {opt['out']}")
        return len(items)


def messages(opt: Opt) -> Iterator[Any]:
    """All messages of the task's fold, once and in order."""
    fold = DatatypeHelper.fold(opt["datatype"])
    once = "train:ordered" if fold == "train" else fold  # of train alone ParlAI draws at random, without an end
    for teacher in create_task_agent_from_taskname(Opt({**opt, "datatype": once, "batchsize": 1})):
        while not teacher.epoch_done():
            yield teacher.act()


if __name__ == "__main__":
    HumodItems.main()
