"""The cluster bootstrap of ratings, against formulas and against explicit resampling."""

from __future__ import annotations

import re

import numpy as np
import pytest

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import Floats, bootstrap
from parlai_empathy.statistics.cluster_bootstrap import CLUSTERS, cluster_bootstrap, cluster_count, weighted_mean

ITEMS = np.repeat(np.arange(40), 5)
RATERS = np.tile(np.arange(5), 40)


def spread_of(values: Floats, items: np.ndarray, raters: np.ndarray, clusters: str) -> float:
    drawn = cluster_bootstrap(lambda weights: weighted_mean(values, weights), items, raters, clusters, 2000, 0)
    return float(drawn.std())


def test_item_bootstrap_has_standard_error_of_item_effects() -> None:
    """The five ratings of each item are equal: there are only 40 observations, and the standard error is that of 40."""
    of_items = np.random.default_rng(0).normal(size=40)
    values = of_items[ITEMS]
    assert spread_of(values, ITEMS, RATERS, "item") == pytest.approx(of_items.std() / 40**0.5, rel=0.05)
    assert spread_of(values, ITEMS, RATERS, "rater") == pytest.approx(0, abs=1e-12)  # all raters agree


def test_rater_bootstrap_has_standard_error_of_rater_effects() -> None:
    of_raters = np.random.default_rng(1).normal(size=12)
    raters, items = np.repeat(np.arange(12), 10), np.tile(np.arange(10), 12)
    assert spread_of(of_raters[raters], items, raters, "rater") == pytest.approx(of_raters.std() / 12**0.5, rel=0.05)
    assert spread_of(of_raters[raters], items, raters, "item") == pytest.approx(0, abs=1e-12)


def test_two_way_bootstrap_adds_item_and_rater_variance() -> None:
    """Item and rater effects are additive, and so are the variances of their means (Owen 2007, section 4)."""
    generator = np.random.default_rng(2)
    of_items, of_raters = generator.normal(size=40), generator.normal(size=12)
    raters, items = np.repeat(np.arange(12), 40), np.tile(np.arange(40), 12)
    expected = (of_items.var() / 40 + of_raters.var() / 12) ** 0.5
    assert spread_of(of_items[items] + of_raters[raters], items, raters, "both") == pytest.approx(expected, rel=0.06)


def test_two_way_bootstrap_draws_items_and_raters_independently() -> None:
    """As many items as raters, with the same effects: drawn together, their variances would add up to twice as much."""
    effects = np.random.default_rng(4).normal(size=30)
    raters, items = np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)
    expected = (2 * effects.var() / 30) ** 0.5
    assert spread_of(effects[items] + effects[raters], items, raters, "both") == pytest.approx(expected, rel=0.06)


def test_item_bootstrap_with_one_rating_each_matches_plain_bootstrap() -> None:
    values = np.random.default_rng(3).normal(size=25)
    numbers = np.arange(25)
    plain = bootstrap(lambda places: float(values[places].mean()), 25, 50, 7)
    found = cluster_bootstrap(lambda w: weighted_mean(values, w), numbers, np.zeros(25, int), "item", 50, 7)
    assert found == pytest.approx(plain)


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_same_seed_gives_same_draws(clusters: str) -> None:
    values = np.arange(200.0)

    def drawn(seed: int) -> list[float]:
        found = cluster_bootstrap(lambda w: weighted_mean(values, w), ITEMS, RATERS, clusters, 20, seed)
        return [float(value) for value in found]

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize(
    ("items", "raters", "clusters", "message"),
    [
        ([0, 0], [0, 1], "item", "no interval: 1 item; at least two are needed"),
        ([0, 0], [0, 1], "both", "no interval: 1 item; at least two are needed"),
        ([0, 1], [0, 0], "rater", "no interval: 1 rater; at least two are needed"),
        ([0, 1], [0, 0], "both", "no interval: 1 rater; at least two are needed"),
        ([], [], "item", "no interval: 0 items; at least two are needed"),
    ],
)
def test_fewer_than_two_clusters_raise_error(items: list[int], raters: list[int], clusters: str, message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        cluster_bootstrap(lambda weights: 0.0, np.array(items, int), np.array(raters, int), clusters)


def test_cluster_count_counts_items_raters_or_the_smaller() -> None:
    items, raters = np.array([0, 0, 4, 4, 7]), np.array([1, 2, 1, 2, 2])
    assert [cluster_count(items, raters, clusters) for clusters in ("item", "rater", "both")] == [3, 2, 2]


def test_unknown_clusters_raise_option_error() -> None:
    with pytest.raises(OptionError, match=r"^clusters 'system': must be one of item, rater, both$"):
        cluster_bootstrap(lambda weights: 0.0, ITEMS, RATERS, "system")


def test_weighted_mean_matches_hand_calculation_or_raises_error() -> None:
    assert weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0])) == 2.0
    with pytest.raises(NotComputableError):
        weighted_mean(np.array([1.0]), np.array([0.0]))
