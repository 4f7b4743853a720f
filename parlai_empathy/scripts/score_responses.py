"""``parlai score_responses``: any systems' replies, from their logs, scored by any metrics and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.reply_options import add_metrics
from parlai_empathy.tasks.edition import add_edition

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("score_responses")
class ScoreResponses(ParlaiScript):
    """Score logs, print the report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The logs, the metrics, and what these need."""
        parser = command_parser("Score the replies that any systems wrote, from their logs")
        add_metrics(parser)
        add_edition(parser)  # of EmpatheticDialogues, whose words NIDF counts
        group = parser.add_argument_group("Report")
        group.add_argument(
            "--logs",
            nargs="+",
            default=[],
            metavar="[NAME=]FILE",
            help="Logs of replies: of parlai eval_model --world-logs, JSON lines, CSV, or text blocks. Differences are "
            "those from the first.",
        )
        group.add_argument(
            "--ratings", default=None, help="A file of people's ratings of these replies, to correlate metrics with."
        )
        group.add_argument(
            "--resamples",
            type=int,
            default=1000,
            help="Bootstrap samples, and random swaps: of these at least 25 for each difference.",
        )
        group.add_argument("--seed", type=int, default=0, help="Decides which samples and swaps these are.")
        group.add_argument(
            "--out", default=None, help="Folder for the report (Markdown, HTML, JSON), its plots, each reply's scores."
        )
        return parser

    def run(self) -> Report:
        """Make the report."""
        from parlai_empathy.scripts.runs import score_responses

        return score_responses.run(self.opt)


if __name__ == "__main__":
    ScoreResponses.main()
