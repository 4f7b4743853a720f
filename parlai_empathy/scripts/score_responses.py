"""``parlai score_responses``: score and compare the replies of any systems, read from logs, with any metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.scripts.parts.ratings_options import add_skip_bad_rows
from parlai_empathy.scripts.parts.reply_options import add_metrics
from parlai_empathy.scripts.parts.samples import add_samples
from parlai_empathy.task_kit.edition import add_edition

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("score_responses")
class ScoreResponses(ParlaiScript):
    """Score logs, print the report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the logs, the metrics, the models that these need."""
        parser = command_parser("Score any system's replies, from a log")
        add_metrics(parser)
        add_edition(parser)  # of EmpatheticDialogues, from which NIDF takes word frequencies
        group = parser.add_argument_group("Report")
        group.add_argument(
            "--logs",
            nargs="+",
            default=[],
            metavar="[NAME=]FILE",
            help="Logs of replies: from parlai eval_model --world-logs, JSON lines, CSV, or text blocks. "
            "Differences are from the first system.",
        )
        group.add_argument(
            "--ratings",
            default=None,
            help="A file of people's ratings of these replies, to correlate with the metrics.",
        )
        add_skip_bad_rows(group)
        add_samples(group)
        group.add_argument(
            "--out",
            default=None,
            help="Folder for the report (Markdown, HTML, JSON), its plots, and each reply's scores.",
        )
        return parser

    def run(self) -> Report:
        """Make the report, print it, and save it."""
        from parlai_empathy.scripts.runs import score_responses

        return score_responses.run(self.opt)


if __name__ == "__main__":
    ScoreResponses.main()
