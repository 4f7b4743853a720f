"""``parlai humod_report``: what is in a HUMOD file, as tables and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.scripts.parts.command_parser import command_parser
from parlai_empathy.tasks.humod.options import add_file_options

if TYPE_CHECKING:
    from parlai_empathy.reports.report import Report


@register_script("humod_report")
class HumodReport(ParlaiScript):
    """Make, print and save the report."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """Declare the options: the file, and the folder of the report."""
        parser = command_parser("Show what is in a HUMOD file: turns, lengths, ratings, raters")
        parser.add_argument_group("Report").add_argument(
            "--out", default=None, help="Folder for the report and its plots."
        )
        add_file_options(parser.add_argument_group("HUMOD"))
        return parser

    def run(self) -> Report:
        """Make the report, print it, and save it."""
        from parlai_empathy.scripts.runs import humod_report

        return humod_report.run(self.opt)


if __name__ == "__main__":
    HumodReport.main()
