"""``parlai agreement``: inter-rater agreement, in HUMOD or in any file of ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.tasks.humod.options import add_file_options

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("agreement")
class AgreementOfRaters(ParlaiScript):
    """Measure agreement, print it, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the ratings, their scale, the bootstrap."""
        parser = command_parser("Measure inter-rater agreement, in HUMOD or in a file of ratings")
        group = parser.add_argument_group("Agreement")
        group.add_argument(
            "--ratings",
            default=None,
            help="A .csv or .jsonl file with the columns item, rater, rating and optionally question; by "
            "default, HUMOD's ratings.",
        )
        group.add_argument(
            "--scale",
            nargs="*",
            type=float,
            default=None,
            help="All values that a rating in --ratings can have, except in comparisons; by default, those that occur.",
        )
        group.add_argument("--out", default=None, help="Folder for the report and its plots.")
        group.add_argument("--seed", type=int, default=0, help="Seed for choosing two ratings, and for the bootstrap.")
        group.add_argument("--resamples", type=int, default=1000, help="Bootstrap samples for the intervals.")
        add_file_options(parser.add_argument_group("HUMOD"))
        return parser

    def run(self) -> Report:
        """Make the report, print it, and save it."""
        from parlai_empathy.scripts.runs import agreement

        return agreement.run(self.opt)


if __name__ == "__main__":
    AgreementOfRaters.main()
