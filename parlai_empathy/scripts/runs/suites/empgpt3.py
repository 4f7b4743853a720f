"""``--suite empgpt3``: the automatic evaluation of EmpGPT-3's paper, of models, logs, and the people who replied."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.reports.empgpt3_systems import PEOPLE, asked, people_of
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.systems import systems_of_logs
from parlai_empathy.scripts.runs.reply_scores import read_logs, response_report
from parlai_empathy.scripts.runs.suites import compared


def report(opt: Opt) -> Report:
    """Ask the models for their replies, and score them beside those of the logs."""
    compared.check(opt)
    models, logs = compared.models_of(opt, [PEOPLE]), read_logs(opt)
    logged = systems_of_logs(logs)
    options, kept = compared.eval_options(opt), compared.evaluations(opt)
    try:
        found = asked(models, opt["fold"], options, kept, opt["datapath"])
    except KeyboardInterrupt:
        raise compared.stopped(opt) from None
    compared.check_any(bool(logged or found.systems), found.failures)
    people = people_of(found.logs or logs.values())  # all models are asked the same; logs may be of other items
    systems = [*([people] if people else []), *found.systems, *logged]
    return response_report("EmpGPT-3: leaderboard", systems, opt, found.failures)
