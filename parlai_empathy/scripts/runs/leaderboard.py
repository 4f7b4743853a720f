"""Implementation of ``parlai leaderboard``."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.parts.samples import check_samples
from parlai_empathy.scripts.parts.suite_options import check_typed
from parlai_empathy.scripts.runs.suites import ed, empgpt3, endex, humod

SUITES = {"humod": humod.report, "ed": ed.report, "empgpt3": empgpt3.report, "endex": endex.report}


def run(opt: Opt) -> Report:
    """Make the report of ``--suite``, print it, and save it."""
    check_samples(opt)
    check_typed(opt)
    report = SUITES[opt["suite"]](opt)
    report.show(opt["out"])
    return report
