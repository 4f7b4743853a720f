"""Correlation of people's ratings with automatic metrics."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.cells import NO_INTERVAL
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.ratings.metrics import metrics_table
from parlai_empathy.statistics.correlation import coefficient, correlation
from parlai_empathy.statistics.paired import holm

RATED = [1.0, 3.0, 2.0, 5.0, 4.0, 4.0]
LENGTHS = [2.0, 3.0, 1.0, 9.0, 5.0, 8.0]
RATINGS = [Rating(str(i), "Ann", "q", value, "A") for i, value in enumerate(RATED)]
SCORES = {
    "length": {("A", str(i)): value for i, value in enumerate(LENGTHS)},
    "words": {("A", str(i)): float(value) for i, value in enumerate([1, 1, 3, 2, 2, 3])},
    "constant": {("A", str(i)): 1.0 for i in range(6)},
    "few": {("A", "0"): 1.0, ("A", "1"): 2.0},
}


def test_metrics_table_matches_direct_correlations() -> None:
    table, (plot,) = metrics_table({"q": RATINGS}, SCORES, 100, 3)
    columns = {name: list(SCORES[name].values()) for name in ("length", "words")}
    direct = {name: correlation("spearman", column, RATED, 100, 3) for name, column in columns.items()}
    corrected = holm([one.p_value for one in direct.values()])
    assert [list(row) for row in table.rows] == [
        *(
            ["q", name, 6, one.value, (one.low, one.high), one.p_value, p, coefficient("pearson", columns[name], RATED)]
            for (name, one), p in zip(direct.items(), corrected, strict=True)
        ),
        ["q", "constant", 6, "-", "-", "-", "-", "-"],
        ["q", "few", 2, "-", "-", "-", "-", "-"],
    ]
    assert "- q, constant: no correlation: all 6 scores are 1" in table.notes
    assert "- q, few: no correlation for 2 items: at least 3 are needed" in table.notes
    assert isinstance(plot, Intervals)
    assert plot.series == {"q": {name: (one.value, one.low, one.high) for name, one in direct.items()}}


def test_perfect_correlation_has_no_interval_and_a_note() -> None:
    scores = {"same": {("A", str(i)): value for i, value in enumerate(RATED)}}
    table, (plot,) = metrics_table({"q": RATINGS}, scores, 50, 0)
    assert table.rows[0][3:5] == [pytest.approx(1), "-"]
    assert NO_INTERVAL in table.notes
    assert NO_INTERVAL not in metrics_table({"q": RATINGS}, SCORES, 50, 0)[0].notes
    assert isinstance(plot, Intervals)
    assert plot.series == {"q": {"same": pytest.approx((1, 1, 1))}}


def test_question_without_metrics_does_not_affect_others() -> None:
    other = [Rating("x", "Ann", "p", 3.0, "Z")]
    table, _ = metrics_table({"p": other, "q": RATINGS}, SCORES, 20, 0)
    assert {row[0] for row in table.rows} == {"q"}
    assert table.notes[0].startswith("- p: no rated reply has a metric: ratings have item 'x' of system 'Z'")


@pytest.mark.parametrize(
    "groups", [{}, {"p": [Rating("x", "Ann", "p", 3.0, "Z")]}, {"a": RATINGS[:1], "b": RATINGS[:1]}]
)
def test_no_reply_with_both_rating_and_metric_raises(groups: dict[str, list[Rating]]) -> None:
    with pytest.raises(NotComputableError) as error:
        metrics_table(groups, {"length": {("B", "9"): 1.0}}, 20, 0)
    assert len(str(error.value).splitlines()) == 1


def test_constant_metrics_give_a_table_without_plots() -> None:
    table, plots = metrics_table({"q": RATINGS}, {"constant": SCORES["constant"]}, 20, 0)
    assert (len(table.rows), plots) == (1, [])
