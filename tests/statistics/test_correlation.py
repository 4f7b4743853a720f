"""Correlations worked out by hand, their intervals against theory and plain loops, and every error."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy import __version__
from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.correlation import KINDS, Correlation, _p_value, coefficient, correlation

numbers = st.integers(-20, 20)
pairs_that_differ = st.lists(st.tuples(numbers, numbers), min_size=5, max_size=12).filter(
    lambda pairs: all(len(set(column)) >= 4 for column in zip(*pairs, strict=True))
)


def normal(n: int, rho: float, seed: int) -> tuple[list[float], list[float]]:
    """Draw ``n`` pairs from a bivariate normal distribution with correlation ``rho``."""
    x, z = np.random.default_rng(seed).normal(size=(2, n))
    return x.tolist(), (rho * x + math.sqrt(1 - rho**2) * z).tolist()


def columns(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    x, y = zip(*pairs, strict=True)
    return list(x), list(y)


# --- values ----------------------------------------------------------------------------------------------------------


def test_values_match_hand_calculation() -> None:
    # Deviations from the means: -1.5, -.5, .5, 1.5 and -1.5, .5, -.5, 1.5. The products add up to 4, the squares to 5
    # and 5. The numbers are their own ranks. Of the 6 pairs of items one is discordant: (5 - 1) / 6.
    scores, ratings = [1, 2, 3, 4], [1, 3, 2, 4]
    assert correlation("pearson", scores, ratings, resamples=9).value == pytest.approx(4 / 5)
    assert correlation("spearman", scores, ratings, resamples=9).value == pytest.approx(4 / 5)
    assert correlation("kendall", scores, ratings, resamples=9).value == pytest.approx(4 / 6)


def test_values_with_ties_match_hand_calculation() -> None:
    # The ratings' ranks are 1.5, 1.5, 3, with deviations -.5, -.5, 1: the products with -1, 0, 1 add up to 1.5, the
    # squares to 2 and 1.5. Kendall: two pairs are concordant, one is tied in the ratings: tau-b is 2 / sqrt(3 * 2).
    scores, ratings = [10, 20, 40], [1, 1, 2]
    assert correlation("spearman", scores, ratings, resamples=9).value == pytest.approx(1.5 / math.sqrt(2 * 1.5))
    assert correlation("kendall", scores, ratings, resamples=9).value == pytest.approx(2 / math.sqrt(6))


def test_p_values_match_hand_calculation() -> None:
    # Of the 24 orders of four items, only the same and the reverse order have |tau| = 1: p = 2 / 24.
    assert correlation("kendall", [1, 2, 3, 4], [1, 2, 3, 4], resamples=9).p_value == pytest.approx(2 / 24)
    # For four items and r = .8: t = .8 * sqrt(2 / .36) = 1.885618. With two degrees of freedom the distribution
    # function is 1/2 + t / (2 sqrt(2 + t^2)); here t / sqrt(2 + t^2) = .8, so the two tails have 1 - .8.
    assert correlation("pearson", [1, 2, 3, 4], [1, 3, 2, 4], resamples=9).p_value == pytest.approx(0.2)
    # The same order has rho = 1, the 3 with two neighbours swapped .8, and as many have the negatives: 8 of 24.
    assert correlation("spearman", [1, 2, 3, 4], [1, 3, 2, 4], resamples=9).p_value == pytest.approx(8 / 24)
    # Three items, rho = 1: 2 of 6. Five items, rho = .9: the same order and 4 swaps of neighbours, and their negatives.
    assert correlation("spearman", [1, 2, 3], [2, 4, 5], resamples=9).p_value == pytest.approx(2 / 6)
    assert correlation("spearman", [1, 2, 3, 4, 5], [1, 3, 2, 4, 5], resamples=9).p_value == pytest.approx(10 / 120)
    # For up to nine items all orders are counted: of 9!, two are as extreme as a perfect correlation.
    nine = correlation("spearman", range(9), range(9), resamples=9)
    assert nine.p_value == pytest.approx(2 / math.factorial(9))
    assert "|p:exact|" in nine.signature


@pytest.mark.parametrize(("kind", "scipys"), [("spearman", stats.spearmanr), ("kendall", stats.kendalltau)])
@settings(max_examples=15)
@given(items=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=3, max_size=5))
def test_p_values_of_few_items_match_all_permutations(
    kind: str, scipys: Callable[..., Any], items: list[tuple[int, int]]
) -> None:
    x, y = columns(items)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    strengths = [abs(scipys(x, order).statistic) for order in permutations(y)]
    share = sum(one >= strengths[0] - 1e-9 for one in strengths) / len(strengths)
    # Most resamples of so few items are constant, so correlation() would find no interval.
    assert _p_value(kind, np.array(x, float), np.array(y, float)) == (pytest.approx(share), "exact")


def test_p_values_of_many_items_match_scipy() -> None:
    x, y = columns([(n, n * n % 11 + n) for n in range(10)])
    tied = [number // 2 for number in y]
    for kind, scipys, ratings, p in (
        ("spearman", stats.spearmanr, tied, "t"),
        ("pearson", stats.pearsonr, tied, "t"),
        ("kendall", stats.kendalltau, tied, "normal"),
    ):
        found = correlation(kind, x, ratings, resamples=9)
        assert found.p_value == pytest.approx(scipys(x, ratings).pvalue)
        assert f"|n:10|p:{p}|" in found.signature


@pytest.mark.parametrize(
    ("n", "p", "method"), [(12, "exact", "exact"), (33, "exact", "exact"), (34, "normal", "asymptotic")]
)
def test_kendalls_p_value_of_items_without_ties_matches_scipy(n: int, p: str, method: str) -> None:
    untied = normal(n, 0.3, seed=1)
    found = correlation("kendall", *untied, resamples=9)
    exact, asymptotic = (stats.kendalltau(*untied, method=each).pvalue for each in ("exact", "asymptotic"))
    assert exact != pytest.approx(asymptotic, rel=1e-3)
    assert found.p_value == pytest.approx({"exact": exact, "asymptotic": asymptotic}[method])
    assert f"|p:{p}|" in found.signature


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_p_values_of_few_items_keep_the_false_positive_rate(kind: str, n: int) -> None:
    """Over all orders of unrelated items, at most 5 % have p <= .05."""
    own = np.arange(float(n))
    found = [_p_value(kind, own, np.array(order))[0] for order in permutations(own)]
    assert sum(p <= 0.05 for p in found) <= 0.05 * len(found)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(pairs=pairs_that_differ)
def test_correlation_is_symmetric(kind: str, pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    there, back = correlation(kind, x, y, resamples=9), correlation(kind, y, x, resamples=9)
    assert there[:5] == pytest.approx(back[:5])


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
@settings(max_examples=20)
@given(pairs=pairs_that_differ)
def test_rank_correlation_ignores_monotone_transformations(kind: str, pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    same = correlation(kind, [math.exp(number / 10) for number in x], [number**3 for number in y], resamples=9)
    assert same == correlation(kind, x, y, resamples=9)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(pairs=pairs_that_differ)
def test_negated_scores_give_negated_correlation(kind: str, pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    value, p_value, low, high, n, _ = correlation(kind, x, y, resamples=9)
    turned = correlation(kind, [-number for number in x], y, resamples=9)
    assert (turned.value, turned.p_value, turned.n) == pytest.approx((-value, p_value, n))
    if low is None or high is None:
        assert turned.interval is None
    else:
        assert turned.interval == pytest.approx((-high, -low))


@pytest.mark.parametrize("kind", KINDS)
def test_coefficient_equals_value_of_correlation(kind: str) -> None:
    x, y = normal(30, 0.5, seed=8)
    assert coefficient(kind, x, y) == correlation(kind, x, y, resamples=9).value
    with pytest.raises(NotComputableError, match=r"^no correlation for 2 items: at least 3 are needed$"):
        coefficient(kind, x[:2], y[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_linear_relation_has_correlation_one(kind: str) -> None:
    found = correlation(kind, [1, 2, 3, 4, 5], [3, 5, 7, 9, 11])
    assert (found.value, found.n) == (pytest.approx(1), 5)
    assert (found.low, found.high, found.interval) == (None, None, None)  # 1 to 1 would look certain


# --- intervals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_interval_matches_explicit_bootstrap(kind: str) -> None:
    def ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (x[:, None] > x).sum(axis=1) + (x[:, None] == x).sum(axis=1) / 2

    def tau(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
        signs = np.sign(x[:, None] - x).ravel(), np.sign(y[:, None] - y).ravel()
        return float(signs[0] @ signs[1] / math.sqrt(signs[0] @ signs[0] * (signs[1] @ signs[1])))

    plain: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64]], float]] = {
        "pearson": lambda x, y: np.corrcoef(x, y)[0, 1],
        "spearman": lambda x, y: np.corrcoef(ranks(x), ranks(y))[0, 1],
        "kendall": tau,
    }
    x, y = np.array(normal(20, 0.6, seed=2)).round(1)
    generator = np.random.default_rng(7)
    values = []
    for _ in range(50):
        drawn = generator.integers(20, size=20)
        values.append(plain[kind](x[drawn], y[drawn]))
    expected = plain[kind](x, y), *np.percentile(values, [10, 90])
    found = correlation(kind, x.tolist(), y.tolist(), resamples=50, seed=7, level=0.8)
    assert (found.value, found.low, found.high) == pytest.approx(expected)


def test_interval_of_large_sample_matches_fisher_transformation() -> None:
    # Fisher's transformation: atanh of r is normal with a standard deviation of 1 / sqrt(n - 3).
    found = correlation("pearson", *normal(2000, 0.6, seed=3))
    z, width = math.atanh(found.value), 1.959964 / math.sqrt(2000 - 3)
    assert (found.low, found.high) == pytest.approx((math.tanh(z - width), math.tanh(z + width)), abs=0.006)


def test_interval_has_nominal_coverage() -> None:
    found = [correlation("pearson", *normal(60, 0.5, seed), resamples=100) for seed in range(100)]
    # 95 of 100 are expected; percentile intervals are known to be slightly too narrow for samples of this size.
    assert 86 <= sum(c.low <= 0.5 <= c.high for c in found) <= 99
    # The intervals are about 0.4 wide, so nearly all of them exclude 0.
    assert sum(c.low <= 0 <= c.high for c in found) <= 5


@pytest.mark.parametrize(
    ("kind", "truth"),
    # For the normal distribution with rho = .5 (Kruskal 1958): 6/pi asin(rho/2) and 2/pi asin(rho).
    [("pearson", 0.5), ("spearman", 6 / math.pi * math.asin(0.25)), ("kendall", 2 / math.pi * math.asin(0.5))],
)
def test_interval_contains_true_value_of_normal_distribution(kind: str, truth: float) -> None:
    found = correlation(kind, *normal(500, 0.5, seed=6), resamples=300)
    assert found.low < truth < found.high
    assert found.high - found.low < 0.2


def test_seed_and_level_change_only_the_interval() -> None:
    x, y = normal(30, 0.5, seed=5)
    first, again = correlation("pearson", x, y, resamples=200), correlation("pearson", x, y, resamples=200)
    assert first == again
    other = correlation("pearson", x, y, resamples=200, seed=1)
    assert first[:2] == other[:2]
    assert (first.low, first.high) != (other.low, other.high)
    narrow = correlation("pearson", x, y, resamples=200, level=0.5)
    assert first.low < narrow.low < narrow.high < first.high


def test_constant_resamples_are_left_out() -> None:
    # Four of five items have the same rating: in (4/5)^5 = 33 % of the resamples all ratings are equal.
    found = correlation("pearson", [1, 2, 3, 4, 5], [0, 0, 0, 0, 1])
    assert -1 <= found.low < found.value < found.high <= 1


# --- signatures ------------------------------------------------------------------------------------------------------


def test_signature_lists_the_settings() -> None:
    found: Correlation = correlation("kendall", [1, 2, 3, 4], [1, 3, 2, 4], resamples=20, seed=3, level=0.9)
    assert found.signature == f"kendall|n:4|p:exact|interval:90%|resamples:20|seed:3|version:{__version__}"


# --- errors ----------------------------------------------------------------------------------------------------------

GOOD = [1.0, 2.0, 3.0]
WRONG: dict[str, tuple[list[float], list[float], str]] = {
    "nothing": ([], [], "no correlation for 0 items: at least 3 are needed"),
    "two items": ([1, 2], [1, 2], "no correlation for 2 items: at least 3 are needed"),
    "lengths": (GOOD, [*GOOD, 4], "no correlation for 3 scores, 4 ratings: each item needs one of each"),
    "nan": ([1, math.nan, math.nan], GOOD, "scores[1] is nan: leave out items without a finite number"),
    "infinity": (GOOD, [1, 2, -math.inf], "ratings[2] is -inf: leave out items without a finite number"),
    "none": (GOOD, [None, 2, 3], "ratings[0] is None: leave out items without a finite number"),  # type: ignore[list-item]
    "constant scores": ([0.5, 0.5, 0.5], GOOD, "no correlation: all 3 scores are 0.5"),
    "constant ratings": (GOOD, [4, 4, 4], "no correlation: all 3 ratings are 4"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scores", "ratings", "message"), WRONG.values(), ids=WRONG.keys())
def test_invalid_data_raises_error(kind: str, scores: list[float], ratings: list[float], message: str) -> None:
    with pytest.raises(NotComputableError) as raised:
        correlation(kind, scores, ratings)
    assert str(raised.value) == message


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflow_raises_error() -> None:
    message = "no correlation: scores or ratings are too large to compute with: rescale them"
    with pytest.raises(NotComputableError, match=f"^{message}$"):
        correlation("pearson", [0, 0, 1e308], [-1e308, -1e308, 0])


def test_invalid_options_raise_option_error() -> None:
    with pytest.raises(OptionError, match=r"^kind 'pearsons': must be one of pearson, spearman, kendall$"):
        correlation("pearsons", GOOD, GOOD)
    with pytest.raises(OptionError, match=r"^resamples 0: must be at least 1$"):
        correlation("pearson", GOOD, GOOD, resamples=0)
    for level in (0, 1, 95):
        with pytest.raises(OptionError, match=rf"^level {level}: must lie between 0 and 1, for instance 0\.95$"):
            correlation("pearson", GOOD, [1, 3, 2], resamples=9, level=level)
