"""Implementation of ``parlai humod_items``: samples contexts and replies from a task's dialogues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.utils.data import DatatypeHelper

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.humod.items import make_items, replies_of, write_items


def run(opt: Opt) -> int:
    """Write the items and return their number."""
    if not opt.get("task"):
        raise OptionError("--task: name the task whose dialogues to use, for instance -t empathy:empathetic_dialogues")
    if opt["contexts"] < 1 or not 1 <= opt["min_turns"] <= opt["max_turns"]:
        raise OptionError(
            f"--contexts {opt['contexts']} --min-turns {opt['min_turns']} --max-turns {opt['max_turns']}: "
            "all must be at least 1, and --min-turns at most --max-turns"
        )
    turns = range(opt["min_turns"], opt["max_turns"] + 1)
    items = make_items(list(replies_of(messages(opt))), opt["contexts"], turns, opt["seed"])
    write_items(items, opt["out"])
    print(f"{len(items):,} items of {opt['contexts']:,} contexts: {opt['out']}")
    return len(items)


def messages(opt: Opt) -> Iterator[Any]:
    """Yield all messages of the task's fold, once and in order."""
    fold = DatatypeHelper.fold(opt["datatype"])
    once = "train:ordered" if fold == "train" else fold  # plain `train` samples at random, endlessly
    for teacher in create_task_agent_from_taskname(Opt({**opt, "datatype": once, "batchsize": 1})):
        while not teacher.epoch_done():
            yield teacher.act()
