"""``parlai humod_report``: what is in a HUMOD file, as tables and plots."""

from __future__ import annotations

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.reports.humod_data import data_report
from parlai_empathy.reports.report import Report
from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import build
from parlai_empathy.tasks.humod.options import add_file_options


@register_script("humod_report")
class HumodReport(ParlaiScript):
    """Read, count, print, and save."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Which file, and where the report goes."""
        parser = ParlaiParser(True, False, "Show what is in a HUMOD file: turns, lengths, ratings, raters")
        parser.add_argument_group("Report").add_argument(
            "--out", default=None, help="Folder for the report and its plots."
        )
        add_file_options(parser.add_argument_group("HUMOD"))
        return parser

    def run(self) -> Report:
        """Make the report."""
        path = build(self.opt)
        report = data_report(read_pairs(path, self.opt["skip_bad_rows"]), f"HUMOD: the data ({path.name})")
        report.show(self.opt["out"])
        return report


if __name__ == "__main__":
    HumodReport.main()
