"""``--suite empgpt3``: the automatic evaluation of EmpGPT-3's paper, for models, logs and the human replies."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.reports.leaderboards.empgpt3_systems import PEOPLE, asked, people_of
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.systems import systems_of_logs
from parlai_empathy.scripts.runs.reply_scores import read_logs, response_report
from parlai_empathy.scripts.runs.suites import compared


def report(opt: Opt) -> Report:
    """Generate the models' replies, and score them together with those of the logs."""
    compared.check(opt)
    models, logs = compared.models_of(opt, [PEOPLE]), read_logs(opt)
    logged = systems_of_logs(logs)
    options, kept = compared.eval_options(opt), compared.evaluations(opt)
    try:
        found = asked(models, opt["fold"], options, kept, opt["datapath"])
    except KeyboardInterrupt:
        raise compared.stopped(opt) from None
    compared.check_any(bool(logged or found.systems), found.failures)
    title, notes = "EmpGPT-3: leaderboard", []
    if found.systems:
        title, notes = f"{title}, {compared.about(opt)}", [compared.options_note(options)]
    people = people_of(found.logs or logs.values())  # all models reply to the same items; logs may have others
    systems = [*([people] if people else []), *found.systems, *logged]
    return response_report(title, systems, opt, found.failures, notes)
