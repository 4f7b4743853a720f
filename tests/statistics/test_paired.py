"""Differences between systems: against SciPy's test over all swaps, against loops, and general properties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.paired import holm, paired_difference, swaps_for

pairs_of_items = st.integers(2, 12).flatmap(
    lambda n: arrays(np.float64, (2, n), elements=st.integers(-50, 50).map(float) | st.floats(0, 1e6))
)


def mean(items: Any) -> float:
    return float(np.mean(items))


def ratio(items: Any) -> float:
    """Return the sum of the first column divided by that of the second; not a mean of items."""
    hits, tries = np.sum(items, axis=0)
    if not tries:
        raise NotComputableError("nothing was tried")
    return float(hits / tries)


# --- the test --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 0.6, 1.5])
def test_p_value_of_mean_matches_exact_permutation_test(shift: float) -> None:
    generator = np.random.default_rng(4)
    first, second = generator.normal(shift, 1, 8), generator.normal(0, 1, 8)
    exact = stats.permutation_test(
        (first, second), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples", n_resamples=np.inf
    )
    found = paired_difference(mean, first, second, resamples=20_000)
    assert found.value == pytest.approx(exact.statistic)
    assert found.n == 8
    # The p-value from 20,000 swaps has a standard error of at most .0036; the tolerance is four of them.
    assert found.p_value == pytest.approx(exact.pvalue, abs=0.0142)


def test_p_value_of_ratio_matches_exact_permutation_test() -> None:
    generator = np.random.default_rng(5)
    tries = generator.integers(1, 9, size=(2, 7))
    hits = generator.integers(0, tries + 1)
    first, second = (np.stack([hits[i], tries[i]], axis=1) for i in (0, 1))
    places = np.arange(7)

    def statistic(x: Any, y: Any) -> float:  # SciPy permutes indices; those of y follow those of x
        both = np.concatenate([first, second])
        return ratio(both[x.astype(int)]) - ratio(both[y.astype(int)])

    exact = stats.permutation_test(
        (places, places + 7), statistic, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    found = paired_difference(ratio, first, second, resamples=20_000)
    assert found.value == pytest.approx(exact.statistic)
    assert found.p_value == pytest.approx(exact.pvalue, abs=0.0142)


def test_object_items_are_swapped_whole() -> None:
    # Corpus-wide shares of distinct words: a repeats words, b does not.
    first, second = np.empty(6, dtype=object), np.empty(6, dtype=object)
    first[:] = [np.array([1, 1, 1, 1][: 1 + i % 4]) for i in range(6)]
    second[:] = [np.arange(10 * i, 10 * i + 1 + i % 3) for i in range(6)]

    def variety(items: Any) -> float:
        words = np.concatenate(list(items))
        return len(set(words.tolist())) / len(words)

    found = paired_difference(variety, first, second, resamples=500, with_interval=False)
    assert found.interval is None
    assert found.value == pytest.approx(variety(first) - variety(second))
    assert found.p_value < 0.1


def test_smallest_p_value_is_one_over_resamples_plus_one() -> None:
    first = np.arange(1.0, 61)
    assert paired_difference(mean, first, -first, resamples=99).p_value == pytest.approx(1 / 100)


def test_swaps_lower_p_value_without_changing_interval() -> None:
    first = np.arange(1.0, 61)
    few, many = (paired_difference(mean, first, -first, resamples=9, swaps=swaps) for swaps in (None, 99))
    assert few.interval == many.interval
    assert (few.p_value, many.p_value) == pytest.approx((1 / 10, 1 / 100))


def test_undefined_swaps_are_left_out_of_p_value() -> None:
    # Each system tried only one of two items. If one item is swapped, one of them has tried nothing; if none or both
    # are, the difference is as large as observed.
    first, second = np.array([[1, 1], [0, 0]]), np.array([[0, 0], [0, 1]])
    assert paired_difference(ratio, first, second, resamples=50, with_interval=False) == (1, 1, None, 2)


@given(pairs_of_items)
@settings(max_examples=50)
def test_swapping_systems_negates_difference_and_interval(items: Any) -> None:
    there, back = (paired_difference(mean, *both, resamples=40) for both in (items, items[::-1]))
    assert back.value == -there.value
    assert back.p_value == there.p_value
    assert 0 < there.p_value <= 1
    assert back.interval == (there.interval and pytest.approx((-there.interval[1], -there.interval[0])))


@given(pairs_of_items)
@settings(max_examples=50)
def test_system_does_not_differ_from_itself(items: Any) -> None:
    assert paired_difference(mean, items[0], items[0], resamples=20) == (0, 1, None, items.shape[1])


@given(pairs_of_items, st.integers(0, 1000))
@settings(max_examples=50)
def test_difference_in_one_item_has_p_value_one(items: Any, by: int) -> None:
    # Each swap gives the same absolute difference; rounding of the sums must not make any of them smaller.
    other = items[0].copy()
    other[0] += by
    assert paired_difference(mean, items[0], other, resamples=20).p_value == 1


def test_p_value_is_robust_to_rounding_of_large_sums() -> None:
    # Of 31 items 16 differ by one step and 15 by the same step the other way: no swap gives a smaller absolute
    # difference. The sums need more digits than a float has, so many swaps come out slightly smaller.
    first = np.random.default_rng(0).integers(2**50, size=31) / 2**20
    second = first + np.where(np.arange(31) % 2, 1, -1) * (1 + 37 / 2**20)
    found = paired_difference(mean, first, second, resamples=300)
    assert found.value == pytest.approx(1 / 31, abs=1e-4)
    assert found.p_value == 1


# --- the interval ----------------------------------------------------------------------------------------------------


def test_interval_resamples_same_items_of_both_systems() -> None:
    generator = np.random.default_rng(6)
    first, second = generator.normal(size=(2, 30))
    drawn = np.random.default_rng(9)
    differences = []
    for _ in range(200):
        places = drawn.integers(30, size=30)
        differences.append(np.mean([first[i] for i in places]) - np.mean([second[i] for i in places]))
    found = paired_difference(mean, first, second, resamples=200, seed=9)
    assert found.interval == pytest.approx(np.percentile(differences, [2.5, 97.5]))
    assert found == paired_difference(mean, first, second, resamples=200, seed=9)


def test_interval_of_means_is_expanded_for_few_items() -> None:
    # For ten items, the most extreme .8551 % at each end: see test_bootstrap.py.
    first, second = np.random.default_rng(8).normal(size=(2, 10))
    drawn = np.random.default_rng(0)
    means = [float((first - second)[drawn.integers(10, size=10)].mean()) for _ in range(500)]
    found = paired_difference(mean, first, second, resamples=500, of_means=True)
    assert found.interval == pytest.approx(np.percentile(means, [0.8551, 99.1449]), abs=1e-4)


def test_constant_difference_has_no_interval() -> None:
    """All resamples give the same, which does not make three items certain: the p-value is 1 / 4."""
    first = np.array([0.25, 0.5, 4.0])
    found = paired_difference(mean, first + 2, first, resamples=1000)
    assert (found.value, found.interval) == (2, None)
    assert found.p_value == pytest.approx(0.25, abs=0.05)


def test_undefined_resamples_are_left_out() -> None:
    first, second = np.array([[1, 1], [0, 0], [2, 4]]), np.array([[0, 1], [1, 1], [0, 2]])
    found = paired_difference(ratio, first, second, resamples=200)
    # 3 of 5 tries minus 1 of 4.
    assert found.value == pytest.approx(3 / 5 - 1 / 4)
    assert found.interval is not None


# --- what cannot be compared -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (3, 2)])
def test_too_few_or_unequal_items_raise_error(n: int, m: int) -> None:
    with pytest.raises(NotComputableError, match=rf"^no comparison: {n} and {m} items; at least two common ones"):
        paired_difference(mean, np.zeros(n), np.zeros(m))


def test_undefined_statistic_raises_error() -> None:
    with pytest.raises(NotComputableError, match=r"^nothing was tried$"):
        paired_difference(ratio, np.zeros((3, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("with_interval", [True, False])
def test_value_that_is_not_finite_raises_error(with_interval: bool, wrong: float) -> None:
    first, second = np.array([3.0, wrong, 5.0]), np.array([1.0, 2.0, 4.0])
    message = rf"^no comparison: a system's value is {wrong}: leave out such items$"
    for both in ((first, second), (second, first)):
        with pytest.raises(NotComputableError, match=message):
            paired_difference(mean, *both, resamples=20, with_interval=with_interval)


@pytest.mark.parametrize("with_interval", [True, False])
@pytest.mark.parametrize("resamples", [0, -1])
def test_fewer_than_one_resample_raises_option_error(resamples: int, with_interval: bool) -> None:
    with pytest.raises(OptionError, match=rf"^resamples {resamples}: must be at least 1$"):
        paired_difference(mean, np.zeros(2), np.ones(2), resamples=resamples, with_interval=with_interval)


# --- many tests ------------------------------------------------------------------------------------------------------


def test_holm_correction_matches_hand_calculation() -> None:
    # Sorted: .01 x 4, .02 x 3, .03 x 2 = .06 (not below the one before), .5 x 1.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.02, 0.03]) == pytest.approx([0.04, 0.04]), ".03 is not brought below .04"
    assert holm([0.6, 0.7, 0.9]) == [1, 1, 1]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.01, 0.5))
def test_holm_correction_matches_step_down_procedure(p_values: list[float], level: float) -> None:
    # Holm's own procedure: compare the smallest with level / m, the next with level / (m - 1), until one is too large.
    rejected = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if (len(p_values) - rank) * p_values[place] > level:
            break
        rejected[place] = True
    assert [p <= level for p in holm(p_values)] == rejected


@pytest.mark.parametrize(
    ("tests", "resamples", "swaps"), [(1, 1000, 1000), (40, 1000, 1000), (51, 1000, 1275), (3, 10, 75)]
)
def test_swaps_allow_significance_after_correction(tests: int, resamples: int, swaps: int) -> None:
    assert swaps_for(tests, resamples) == swaps
    assert tests / (swaps_for(tests, resamples) + 1) < 0.05
