"""The EmpatheticDialogues leaderboard: measured models beside published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.leaderboards.ed_columns import COLUMNS, COST_COLUMNS, EMOTION_COLUMNS, Column
from parlai_empathy.reports.leaderboards.ed_figures import Published, published
from parlai_empathy.reports.leaderboards.ed_models import Measured
from parlai_empathy.reports.plots import Line, RowBars
from parlai_empathy.reports.signature_notes import signature_notes
from parlai_empathy.reports.table import Table

DATASETS = {"ed": "EmpatheticDialogues", "dd": "DailyDialog", "r": "Reddit"}
_Rows = Mapping[str, Mapping[str, float]]


def tables(models: Sequence[Measured], datasets: Sequence[str], about: str, notes: Sequence[str] = ()) -> list[Table]:
    """Return one table per data set. That of EmpatheticDialogues ends with the published figures.

    :param about: which part of the data was evaluated, for the titles.
    :param notes: on all models, for each table.
    """
    return [_table(models, dataset, about, notes) for dataset in datasets]


def _table(models: Sequence[Measured], dataset: str, about: str, more: Sequence[str]) -> Table:
    rows: dict[str, Mapping[str, float]] = {
        model.name: {**model.values[dataset], **model.cost} for model in models if dataset in model.values
    }
    signatures = signature_notes(rows)
    others = published(*(column.name for column in COLUMNS)) if dataset == "ed" else []
    rows |= {one.name: one.values for one in others}
    columns = [column for column in COLUMNS if any(column.name in values for values in rows.values())]
    notes = [
        *signatures,
        *more,
        *(f"- {model.name}: left out: {failure}" for model in models for failure in model.failures),
        *_explained(others, columns),
    ]
    cells: list[list[Cell]] = [
        [name, *(values.get(column.name) for column in columns)] for name, values in rows.items()
    ]
    header = ["model", *(column.title for column in columns)]
    return Table(f"{DATASETS[dataset]}, {about}", header, cells, notes, digits=2)


def _explained(others: Sequence[Published], columns: Sequence[Column]) -> Iterable[str]:
    names = {column.name for column in columns}
    if names - {"ppl", "ppl_peers", *(column.name for column in COST_COLUMNS)}:
        yield "- P@1,100, emotion accuracy, AVG BLEU and Dist-n are in percent"
    if others:
        yield "- rows that name a paper: that paper's figures, not measured here"
        yield "- Rashkin et al. pretrain on 1.7 billion Reddit conversations; their P@1,100 does not state its protocol"
    if {"ppl", "ppl_peers"} & names:
        yield "- PPL is per token of each model's own dictionary, and compares models that share one"
    if "minutes" in names:
        yield "- training: as ParlAI recorded it, without validations, on whichever machine it ran"


def plots(models: Sequence[Measured]) -> list[RowBars]:
    """Return plots of the EmpatheticDialogues table; a plot without a measured value is left out."""
    values = {model.name: model.values["ed"] for model in models if "ed" in model.values}
    found = [_precision(values), _emotions(values), _perplexity(values)]
    return [plot for plot in found if any(row in values for row in plot.rows)]


def _precision(values: _Rows) -> RowBars:
    series = _series(values, {protocol: f"p_at_1_{protocol}" for protocol in ("shuffled", "ordered", "inline")})
    title = "P@1,100 on EmpatheticDialogues: the true reply first among 100"
    scale = "%   (lines: Rashkin et al. 2019, protocol not named)"
    return RowBars("p_at_1", title, scale, "", _rows(series), series, _lines("p_at_1"))


def _emotions(values: _Rows) -> RowBars:
    titles = {column.title.removeprefix("emotion: "): column.name for column in EMOTION_COLUMNS.values()}
    series = _series(values, titles)
    lines = [line for title in series for line in _lines(titles[title], title)]
    title = "Emotion accuracy on EmpatheticDialogues, 32 classes"
    return RowBars("emotions", title, "%   (lines: published)", "", _rows(series), series, lines)


def _perplexity(values: _Rows) -> RowBars:
    series = _series(values, {"measured": "ppl_peers"})
    series |= _series({one.name: one.values for one in published("ppl_peers")}, {"published": "ppl_peers"})
    title = "Perplexity on EmpatheticDialogues by the peers' protocol, less is better"
    return RowBars("perplexity", title, "perplexity", "", _rows(series), series)


def _series(values: _Rows, columns: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the values of each title's column by row; titles without values are left out."""
    series = {
        title: {name: found[column] for name, found in values.items() if column in found}
        for title, column in columns.items()
    }
    return {title: found for title, found in series.items() if found}


def _rows(series: Mapping[str, Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for found in series.values() for name in found))


def _lines(column: str, series: str | None = None) -> list[Line]:
    """Return a line for each published value of a column."""
    what = f"{series}: " if series else ""
    return [
        Line(f"{what}{one.system} {one.values[column]:.2f}", one.values[column], series) for one in published(column)
    ]
