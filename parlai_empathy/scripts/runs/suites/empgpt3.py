"""``--suite empgpt3``: the automatic evaluation of EmpGPT-3's paper, of models, logs, and the people who replied."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.reports.empgpt3_systems import asked, people_of
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.runs.reply_scores import response_report
from parlai_empathy.scripts.runs.suites import compared


def report(opt: Opt) -> Report:
    """Ask the models for their replies, and score them beside those of the logs."""
    compared.check(opt)
    models, logged = compared.models_of(opt), compared.logged_systems(opt)
    options, kept = compared.eval_options(opt), compared.evaluations(opt)
    try:
        systems = [*asked(models, opt["fold"], options, kept, opt["datapath"]), *logged]
    except KeyboardInterrupt:
        raise compared.stopped(opt) from None
    people = people_of(systems[0])
    return response_report("EmpGPT-3: leaderboard", [*([people] if people else []), *systems], opt)
