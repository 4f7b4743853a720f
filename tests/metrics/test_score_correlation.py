"""The correlation in ParlAI's reports, combined from batches, tasks and processes."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlai.core.metrics import Metrics, aggregate_named_reports

from parlai_empathy import __version__
from parlai_empathy.metrics.score_correlation import ScoreCorrelation

SCORES = [0.1, 0.9, 0.4, 0.8, 0.2]
RATINGS = [1.0, 5.0, 2.0, 3.5, 2.5]


def pearson(x: list[float], y: list[float]) -> float:
    return statistics.correlation(x, y)


@given(st.lists(st.integers(0, 5), max_size=4).map(sorted))
def test_sum_of_batches_matches_correlation_of_all(cuts: list[int]) -> None:
    total: ScoreCorrelation | None = None
    for start, end in zip([0, *cuts], [*cuts, 5], strict=True):
        if start < end:
            total = ScoreCorrelation("pearson", SCORES[start:end], RATINGS[start:end]) + total
    assert total is not None
    assert total.value() == pytest.approx(pearson(SCORES, RATINGS))


def test_spearman_matches_hand_calculation() -> None:
    # Ranks of the scores: 1, 5, 3, 4, 2; of the ratings: 1, 5, 2, 4, 3. Squared differences: 0 0 1 0 1.
    # 1 - 6 x 2 / (5 x 24) = .9.
    assert ScoreCorrelation("spearman", SCORES, RATINGS).value() == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("scores", "ratings"), [([1.0, 2.0], [1.0, 2.0]), ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), ([], [])]
)
def test_undefined_correlation_is_nan_with_a_warning(
    scores: list[float], ratings: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr("parlai_empathy.metrics.score_correlation.warn_once", warned.append)
    assert math.isnan(ScoreCorrelation("pearson", scores, ratings).value())
    assert len(warned) == 1
    assert warned[0].startswith("no correlation")


def test_parlai_metrics_aggregate_batches() -> None:
    metrics = Metrics()
    for start in (0, 3):
        metrics.add(
            "pearson", ScoreCorrelation("pearson", SCORES[start : start + 3], RATINGS[start : start + 3], "test")
        )
    report = metrics.report()
    assert float(report["pearson"]) == pytest.approx(pearson(SCORES, RATINGS))
    assert report["pearson"].signature == f"pearson|n:5|split:test|version:{__version__}"


def test_tasks_are_macro_averaged() -> None:
    """Not the correlation over all items: tasks may use different rating scales."""
    one, other = ScoreCorrelation("pearson", SCORES, RATINGS), ScoreCorrelation("pearson", SCORES[:3], RATINGS[2:])
    report = aggregate_named_reports({"one": {"pearson": one}, "other": {"pearson": other}})
    assert float(report["pearson"]) == pytest.approx((one.value() + other.value()) / 2)
    assert float(report["one/pearson"]) == pytest.approx(one.value())
