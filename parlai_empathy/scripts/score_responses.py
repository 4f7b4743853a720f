"""``parlai score_responses``: any systems' replies, from their logs, scored by any metrics and compared."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.systems import systems_of
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.parts.reply_scores import add_metrics, response_report
from parlai_empathy.tasks.edition import add_edition


@register_script("score_responses")
class ScoreResponses(ParlaiScript):
    """Score logs, print the report, and save it."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The logs, the metrics, and what these need."""
        parser = ParlaiParser(True, False, "Score the replies that any systems wrote, from their logs")
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
        group.add_argument("--resamples", type=int, default=1000, help="Bootstrap samples, and random swaps.")
        group.add_argument("--seed", type=int, default=0, help="Decides which samples and swaps these are.")
        group.add_argument(
            "--out", default=None, help="Folder for the report (Markdown, HTML, JSON), its plots, each reply's scores."
        )
        return parser

    def run(self) -> Report:
        """Make the report."""
        if not self.opt["logs"]:
            raise OptionError("--logs: name at least one log of replies")
        logs = {name: read_replies_log(file) for name, file in by_name("--logs", self.opt["logs"]).items()}
        systems = [system for name, log in logs.items() for system in systems_of(name, log)]
        report = response_report("Replies: scores", systems, self.opt)
        report.show(self.opt["out"])
        return report


if __name__ == "__main__":
    ScoreResponses.main()
