"""``--suite ed``: models and logs on EmpatheticDialogues, beside the figures of its paper and of its successors."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.reports.leaderboards import ed as ed_leaderboard
from parlai_empathy.reports.leaderboards.ed_figures import PUBLISHED
from parlai_empathy.reports.leaderboards.ed_logs import logs_plot, logs_table, score_logs
from parlai_empathy.reports.leaderboards.ed_models import Measured, measure
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.responses import records
from parlai_empathy.scoring.systems import systems_of_logs
from parlai_empathy.scoring.word_metrics import Words
from parlai_empathy.scripts.runs.reply_scores import read_logs
from parlai_empathy.scripts.runs.suites import compared


def report(opt: Opt) -> Report:
    """Evaluate the models, and score the logs."""
    compared.check(opt)
    models = compared.models_of(opt, [one.name for one in PUBLISHED])
    systems = systems_of_logs(read_logs(opt))
    datasets = list(dict.fromkeys(opt["tasks"]))
    tables, plots, items = [], [], []
    if models:
        options = compared.eval_options(opt)
        found = _measured(models, datasets, options, opt)
        failures = [f"{model.name}: {failure}" for model in found for failure in model.failures]
        compared.check_any(bool(systems) or any(model.values for model in found), failures)
        tables = ed_leaderboard.tables(found, datasets, compared.about(opt), [compared.options_note(options)])
        plots = ed_leaderboard.plots(found)
    if systems:
        scores = score_logs(systems, Words(opt["tokens"], opt["lower_case"]))
        tables.append(logs_table(scores))
        plots.append(logs_plot(scores))
        items = records(scores)
    return Report("EmpatheticDialogues: leaderboard", tables, plots, items)


def _measured(models: dict[str, str], datasets: list[str], options: list[str], opt: Opt) -> list[Measured]:
    try:
        return measure(models, datasets, opt["fold"], options, compared.evaluations(opt), opt["datapath"])
    except KeyboardInterrupt:
        raise compared.stopped(opt) from None
