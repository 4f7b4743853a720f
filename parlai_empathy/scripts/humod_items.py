"""``parlai humod_items``: make a set of items like HUMOD's, for rating, from the dialogues of any ParlAI task."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser


@register_script("humod_items")
class HumodItems(ParlaiScript):
    """Sample contexts and random replies, and write them to a file."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the task, the number of contexts and of their turns."""
        parser = command_parser(
            "Make a set of items like HUMOD's, for rating, from the dialogues of any task", "task", "datatype"
        )
        group = parser.add_argument_group("Items")
        group.add_argument("--out", default="items.jsonl", help="The file to write, one item per line.")
        group.add_argument("--contexts", type=int, default=500, help="Number of contexts; each gives two items.")
        group.add_argument("--min-turns", type=int, default=1, help="Fewest turns of a context.")
        group.add_argument("--max-turns", type=int, default=6, help="Most turns of a context (HUMOD's 6).")
        group.add_argument("--seed", type=int, default=0, help="Seed for sampling.")
        return parser

    def run(self) -> int:
        """Write the items and return their number."""
        from parlai_empathy.scripts.runs import humod_items

        return humod_items.run(self.opt)


if __name__ == "__main__":
    HumodItems.main()
