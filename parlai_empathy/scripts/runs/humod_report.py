"""Implementation of ``parlai humod_report``."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.reports.humod_data import data_report
from parlai_empathy.reports.report import Report
from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import build, title_of


def run(opt: Opt) -> Report:
    """Make the report, print it, and save it."""
    path = build(opt)
    report = data_report(read_pairs(path, opt["skip_bad_rows"]), f"HUMOD: the data ({title_of(path)})")
    report.show(opt["out"])
    return report
