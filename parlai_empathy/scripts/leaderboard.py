"""``parlai leaderboard``: many evaluations in one table, beside the papers' own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.suite_options import READ_BY, add_suites
from parlai_empathy.tasks.humod.splits import FOLDS

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("leaderboard")
class Leaderboard(ParlaiScript):
    """Run a suite, print its report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """A suite, what is compared, and what each suite needs."""
        parser = command_parser("Compare models in one table, beside the papers' own figures", "task")
        group = parser.add_argument_group("Leaderboard")
        group.add_argument("--suite", choices=list(READ_BY), default=None, help="What is compared, and on what.")
        group.add_argument(
            "--models",
            nargs="*",
            default=[],
            metavar="[NAME=]FILE",
            help="Model files, each with a name for the table if you like: of trained judges (humod, endex), or of "
            "agents that reply (ed, empgpt3) or tell emotions (ed). For endex, NAME=FILE,FILE are several trainings "
            "of one judge, such as with other seeds.",
        )
        group.add_argument(
            "--out",
            default=None,
            help="Folder for the report (Markdown, HTML, JSON), its plots, and each item's scores; with --suite "
            "ed and empgpt3 evaluations that are done are kept there too, and not repeated.",
        )
        group.add_argument(
            "--resamples",
            type=int,
            default=1000,
            help="Bootstrap samples for intervals; random swaps: of these at least 25 for each difference.",
        )
        group.add_argument("--seed", type=int, default=0, help="Decides which samples and swaps these are.")
        group.add_argument("--fold", choices=[*FOLDS, "all"], default="test", help="What is scored; all: of humod.")
        add_suites(parser)
        return parser

    def run(self) -> Report:
        """Make the report of ``--suite``."""
        from parlai_empathy.scripts.runs import leaderboard

        if not self.opt["suite"]:
            raise OptionError(f"--suite: say what is to be compared: {', '.join(READ_BY)}")
        return leaderboard.run(self.opt)


if __name__ == "__main__":
    Leaderboard.main()
