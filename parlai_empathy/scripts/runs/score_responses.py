"""What ``parlai score_responses`` does: it scores logs, prints the report, and saves it."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.logs import read_replies_log
from parlai_empathy.scoring.systems import systems_of
from parlai_empathy.scripts.parts.named_files import by_name
from parlai_empathy.scripts.runs.reply_scores import response_report


def run(opt: Opt) -> Report:
    """Make the report."""
    if not opt["logs"]:
        raise OptionError("--logs: name at least one log of replies")
    logs = {name: read_replies_log(file) for name, file in by_name("--logs", opt["logs"]).items()}
    systems = [system for name, log in logs.items() for system in systems_of(name, log)]
    report = response_report("Replies: scores", systems, opt)
    report.show(opt["out"])
    return report
