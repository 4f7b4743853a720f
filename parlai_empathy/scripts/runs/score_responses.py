"""Implementation of ``parlai score_responses``."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.systems import systems_of_logs
from parlai_empathy.scripts.parts.samples import check_samples
from parlai_empathy.scripts.runs.reply_scores import read_logs, response_report


def run(opt: Opt) -> Report:
    """Make the report, print it, and save it."""
    if not opt["logs"]:
        raise OptionError("--logs: name at least one log of replies")
    check_samples(opt)
    report = response_report("Replies: scores", systems_of_logs(read_logs(opt)), opt)
    report.show(opt["out"])
    return report
