"""Correlation of people's ratings with automatic metrics, reply by reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.metric_scores import Scores, matched
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.cells import NO_INTERVAL, NONE, Cell, PValue
from parlai_empathy.reports.plots import Interval, Intervals, Plot
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number
from parlai_empathy.statistics.correlation import Correlation, coefficient, correlation
from parlai_empathy.statistics.paired import holm


def metrics_table(
    groups: Mapping[str, Sequence[Rating]], scores: Scores, resamples: int, seed: int
) -> tuple[Table, list[Plot]]:
    """Return Spearman's and Pearson's correlation of each metric with each question.

    :param groups: the ratings of each question by its title, or its comparisons with the systems in order of name.
    :raises NotComputableError: if nothing was rated, or no rated reply has a score.
    """
    found: dict[tuple[str, str], tuple[Correlation, float]] = {}
    counts: dict[tuple[str, str], int] = {}
    notes: list[str] = []
    for question, ratings in groups.items():
        try:
            pairs = matched(ratings, scores)
        except NotComputableError as error:
            if len(groups) == 1:
                raise
            notes.append(f"- {question}: {error}")
            continue
        for metric, (values, people) in pairs.items():
            counts[question, metric] = len(values)
            try:
                ranks = correlation("spearman", values, people, resamples, seed)
                found[question, metric] = (ranks, coefficient("pearson", values, people))
            except NotComputableError as error:
                notes.append(f"- {question}, {metric}: {error}")
    if not groups:
        raise NotComputableError("no system was rated: there is nothing to compare with metrics")
    if not counts:
        raise NotComputableError(f"no rated reply has a metric: {notes[0].removeprefix('- ')}")
    corrected = dict(zip(found, holm([one.p_value for one, _ in found.values()]), strict=True))
    rows: list[list[Cell]] = []
    for key, n in counts.items():
        cells: list[Cell] = [NONE] * 5
        if key in found:
            ranks, pearson = found[key]
            cells = [
                Number(ranks.value, ranks.signature),
                ranks.interval or NONE,
                PValue(ranks.p_value),
                PValue(corrected[key]),
                pearson,
            ]
        rows.append([*key, n, *cells])
    notes += [
        "- replies: correlation of the metric with the mean rating; comparisons: of the metric's difference with the "
        "mean preference; all systems pooled",
        *([NO_INTERVAL] if any(one.interval is None for one, _ in found.values()) else []),
        f"- p (Holm): corrected for the {len(found)} tests of this table",
        *dict.fromkeys(f"- {one.signature}" for one, _ in found.values()),
    ]
    header = ["question", "metric", "n", "Spearman", "95 % interval", "p", "p (Holm)", "Pearson"]
    return Table("People's ratings and automatic metrics", header, rows, notes), _plots(found)


def _plots(found: Mapping[tuple[str, str], tuple[Correlation, float]]) -> list[Plot]:
    series: dict[str, dict[str, Interval]] = {}
    for (question, metric), (one, _) in found.items():
        series.setdefault(question, {})[metric] = one.span
    if not series:
        return []
    rows = list(dict.fromkeys(metric for values in series.values() for metric in values))
    title = "Spearman's correlation of people's ratings and metrics"
    return [Intervals("ratings_and_metrics", title, "Spearman's correlation", "", rows, series)]
