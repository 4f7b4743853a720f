"""Means, standard errors and intervals, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from parlai_empathy.rating.analysis.answers import columns_of
from parlai_empathy.rating.analysis.means import SystemMean, system_mean
from parlai_empathy.rating.rating import Rating
from parlai_empathy.statistics.bootstrap import bootstrap, expanded_interval, percentile_interval


def mean_of(values: list[tuple[str, str, float]], clusters: str = "item", seed: int = 0) -> SystemMean:
    columns = columns_of([Rating(item, rater, "q", value) for item, rater, value in values])
    return system_mean(columns, clusters, 500, seed)


def test_mean_and_standard_error_match_hand_computation() -> None:
    found = mean_of([("1", "a", 2), ("1", "b", 4), ("2", "a", 3), ("3", "c", 5)])
    assert (found.ratings, found.items, found.raters) == (4, 3, 3)
    assert found.mean == 3.5
    assert found.standard_error == pytest.approx((5 / 3) ** 0.5 / 2)  # squared deviations: 2.25 + .25 + .25 + 2.25 = 5
    assert found.interval is not None
    assert 2.0 <= found.interval[0] < 3.5 < found.interval[1] <= 5.0
    assert found.reason is None
    assert "|interval:95%, expanded|drawn:item|resamples:500|seed:0|" in found.signature


def test_equal_ratings_of_one_item_do_not_narrow_interval() -> None:
    """One rating per item, then nine equal ones: the standard error falls to a third, the interval stays the same."""
    of_items = [float(value) for value in np.random.default_rng(0).integers(1, 6, 30)]
    single = mean_of([(str(i), "a", value) for i, value in enumerate(of_items)])
    nine = mean_of([(str(i), f"r{r}", value) for i, value in enumerate(of_items) for r in range(9)])
    assert single.standard_error is not None
    assert nine.standard_error == pytest.approx(single.standard_error / 3, rel=0.03)
    assert nine.interval == pytest.approx(single.interval)
    assert single.interval is not None
    assert single.interval[1] - single.interval[0] == pytest.approx(2 * 1.96 * single.standard_error, rel=0.1)


@pytest.mark.parametrize(
    ("clusters", "items_count", "raters_count"),
    [("item", True, False), ("rater", False, True), ("both", True, True)],
)
def test_interval_reflects_resampled_clusters(clusters: str, items_count: bool, raters_count: bool) -> None:
    def width(values: list[tuple[str, str, float]]) -> float:
        low, high = mean_of(values, clusters).interval or (2.5, 2.5)
        assert low <= 2.5 <= high
        return high - low

    places = [(item, rater) for item in range(4) for rater in range(4)]
    assert (width([(str(item), str(rater), 1.0 + item) for item, rater in places]) > 1) == items_count
    assert (width([(str(item), str(rater), 1.0 + rater) for item, rater in places]) > 1) == raters_count


def test_interval_is_reproducible_by_seed() -> None:
    values = [(str(i), "a", float(i * i % 7)) for i in range(9)]
    assert mean_of(values, seed=1) == mean_of(values, seed=1)
    assert mean_of(values, seed=1).interval != mean_of(values, seed=2).interval


@pytest.mark.parametrize(
    ("values", "clusters", "reason"),
    [
        ([("1", "a", 3)], "item", "no interval: 1 item; at least two are needed"),
        ([("1", "a", 3), ("1", "b", 4)], "item", "no interval: 1 item; at least two are needed"),
        ([("1", "a", 3), ("2", "a", 4)], "rater", "no interval: 1 rater; at least two are needed"),
    ],
)
def test_too_few_clusters_give_no_interval(values: list[tuple[str, str, float]], clusters: str, reason: str) -> None:
    found = mean_of(values, clusters)
    assert (found.interval, found.reason) == (None, reason)
    assert (found.standard_error is None) == (len(values) == 1)


def test_constant_ratings_have_no_interval() -> None:
    found = mean_of([(str(i), "a", 4.0) for i in range(5)])
    assert (found.mean, found.standard_error, found.interval) == (4.0, 0.0, None)
    assert found.reason == "no interval: all resamples give 4: values that differ are needed"


@pytest.mark.parametrize("clusters", ["item", "rater"])
def test_interval_of_few_clusters_is_expanded(clusters: str) -> None:
    values = [1.0, 2.0, 2.0, 4.0, 5.0, 5.0]
    few = [("1", str(i), value) if clusters == "rater" else (str(i), "a", value) for i, value in enumerate(values)]
    found = mean_of(few, clusters)
    drawn = bootstrap(lambda places: float(np.array(values)[places].mean()), 6, 500, 0)
    assert found.interval == pytest.approx(expanded_interval(drawn, 6))
    assert found.interval is not None
    assert found.interval[0] < percentile_interval(drawn)[0] < percentile_interval(drawn)[1] < found.interval[1]
