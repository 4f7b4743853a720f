"""``parlai leaderboard``: compare models in one table, beside the papers' own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.samples import add_samples
from parlai_empathy.scripts.parts.suite_options import READ_BY, add_suites
from parlai_empathy.tasks.humod.splits import FOLDS

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("leaderboard")
class Leaderboard(ParlaiScript):
    """Run a suite, print its report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the suite, the models to compare, the options of each suite."""
        parser = command_parser("Compare models in one table, beside the papers' own figures")
        group = parser.add_argument_group("Leaderboard")
        group.add_argument(
            "--suite",
            choices=list(READ_BY),
            default=None,
            help="What to compare, and on which data. Options of which no suites are named are for all.",
        )
        group.add_argument(
            "--models",
            nargs="*",
            default=[],
            metavar="[NAME=]FILE",
            help="Model files, optionally as NAME=FILE: of trained judges (humod, endex), or of agents "
            "that reply (ed, empgpt3) or predict emotions (ed). For endex, NAME=FILE,FILE are several "
            "training runs of one judge, such as with different seeds.",
        )
        group.add_argument(
            "--out",
            default=None,
            help="Folder for the report (Markdown, HTML, JSON), its plots, and each item's scores; with "
            "--suite ed and empgpt3 also for finished evaluations, which are not repeated.",
        )
        add_samples(group)
        group.add_argument(
            "--fold", choices=[*FOLDS, "all"], default="test", help="The fold to score; all only for humod."
        )
        add_suites(parser)
        return parser

    def run(self) -> Report:
        """Make the report of ``--suite``, print it, and save it."""
        from parlai_empathy.scripts.runs import leaderboard

        if not self.opt["suite"]:
            raise OptionError(f"--suite: choose one of {', '.join(READ_BY)}")
        return leaderboard.run(self.opt)


if __name__ == "__main__":
    Leaderboard.main()
