"""Rank tests: against SciPy where it is exact, and with ties against all sign assignments and all permutations."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics import rank_tests
from parlai_empathy.statistics.rank_tests import rank_sum, signed_rank

quick = settings(max_examples=60)
differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9).filter(any)


def by_all_signs(values: list[int]) -> float:
    """Return the p-value from all assignments of signs to the ranks."""
    known = [value for value in values if value]
    ranks = stats.rankdata(np.abs(known))
    middle = ranks.sum() / 2
    observed = abs(ranks[np.array(known) > 0].sum() - middle)
    sums = [
        abs(sum(r for r, s in zip(ranks, signs, strict=True) if s) - middle)
        for signs in product([0, 1], repeat=len(known))
    ]
    return sum(one >= observed - 1e-9 for one in sums) / len(sums)


def by_all_deals(first: list[int], second: list[int]) -> float:
    """Return the p-value from all ways to split the ranks into the two samples."""
    ranks = stats.rankdata([*first, *second])
    average = len(first) * (len(ranks) + 1) / 2
    observed = abs(ranks[: len(first)].sum() - average)
    sums = [abs(sum(deal) - average) for deal in combinations(ranks, len(first))]
    return sum(one >= observed - 1e-9 for one in sums) / len(sums)


@quick
@given(differences)
def test_signed_rank_with_ties_and_zeros_matches_all_sign_assignments(values: list[int]) -> None:
    found = signed_rank(values)
    assert found.p_value == pytest.approx(by_all_signs(values))
    assert found.n == sum(map(bool, values))
    assert signed_rank([-value for value in values]).p_value == pytest.approx(found.p_value)
    assert signed_rank([-value for value in values]).effect == pytest.approx(-found.effect)


def test_signed_rank_without_ties_matches_scipy_exact_test() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 30)
    assert signed_rank(values).p_value == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)


def test_signed_rank_of_large_sample_uses_normal_approximation() -> None:
    values = np.random.default_rng(1).normal(0.1, 1, 400)
    theirs = stats.wilcoxon(values, correction=True, method="approx").pvalue
    found = signed_rank(values)
    assert (found.p_value, found.p) == (pytest.approx(theirs, rel=1e-6), "normal")
    exact = signed_rank(values[:200])  # the largest size that is always exact
    near = stats.wilcoxon(values[:200], correction=True, method="approx").pvalue
    assert (exact.p_value, exact.p) == (pytest.approx(near, rel=0.02), "exact")


def test_signed_rank_of_better_or_worse_is_sign_test() -> None:
    found = signed_rank([1] * 125 + [-1] * 95)
    assert (found.p_value, found.p) == (pytest.approx(stats.binomtest(125, 220).pvalue), "exact")
    found = signed_rank([1] * 1100)  # 2 to the power of 1,100 is more than a float can hold
    assert (found.p_value, found.p) == (pytest.approx(0.0, abs=1e-300), "exact")
    assert found.p_value > 0


def test_rank_sum_of_yes_and_no_is_fishers_exact_test() -> None:
    found = rank_sum([1] * 60 + [0] * 40, [1] * 46 + [0] * 54)
    expected = stats.fisher_exact([[60, 40], [46, 54]]).pvalue
    assert (found.p_value, found.p) == (pytest.approx(expected), "exact")


def test_rank_sum_of_rare_yes_in_many_items_is_near_fishers_exact_test() -> None:
    """C(1030, 515) ways to deal are more than a float can hold, C(1020, 510) are not."""
    found = {n: rank_sum([1] * 6 + [0] * (n - 6), [0] * n) for n in (510, 515)}
    expected = [stats.fisher_exact([[6, n - 6], [0, n]]).pvalue for n in found]
    assert [each.p for each in found.values()] == ["exact", "normal"]
    assert found[510].p_value == pytest.approx(expected[0])
    assert found[515].p_value == pytest.approx(expected[1], rel=0.5)


def test_normal_approximation_allows_for_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of tied ranks move in large steps, or in halves: a correction by a constant would be far too small."""
    generator = np.random.default_rng(6)
    differences = generator.integers(-2, 3, 150)
    samples = [1] * 60 + [0] * 40, [1] * 46 + [0] * 54
    signs = [1] * 115 + [-1] * 86
    exact = [signed_rank(differences), signed_rank(signs), rank_sum(*samples)]
    monkeypatch.setattr(rank_tests, "_MOST_STEPS", 0)
    normal = [signed_rank(differences), signed_rank(signs), rank_sum(*samples)]
    assert {each.p for each in exact} == {"exact"}
    assert {each.p for each in normal} == {"normal"}
    assert [each.p_value for each in normal] == pytest.approx([each.p_value for each in exact], rel=0.1)


def test_exact_tests_are_used_up_to_five_million_additions() -> None:
    # n ranks up to n, times half the sum of ranks and one: 271 * (18,428 + 1) = 4.99 million, 272 * 18,565 = 5.05.
    assert [signed_rank(np.arange(1.0, n + 1)).p for n in (271, 272)] == ["exact", "normal"]
    # 2n ranks from 0 to 2n - 1, times n to be dealt, times the sum of the highest n and one: 72 * 36 * 1,927 = 4.99
    # million, 74 * 37 * 2,036 = 5.57.
    assert [rank_sum(np.arange(n), np.arange(n, 2.0 * n)).p for n in (36, 37)] == ["exact", "normal"]
    # Ranks of yes and no are 0 and 1: 270 * 135 * 136 = 4.96 million, 272 * 136 * 137 = 5.07.
    assert [rank_sum([1] * n, [0] * n).p for n in (135, 136)] == ["exact", "normal"]


def test_effect_sizes_match_hand_calculation() -> None:
    # Ranks 1 (of -1), 2.5 and 2.5 (of 2 and 2), 4 (of 3): of a total of 10, 9 are positive and 1 is negative.
    assert signed_rank([-1, 2, 3, 2, 0]).effect == pytest.approx(0.8)
    # 3 > 1, 3 > 2, 2 > 1, 2 = 2: of four pairs three and a half are won and half of one is lost.
    assert rank_sum([3, 2], [1, 2]).effect == pytest.approx((3.5 - 0.5) / 4)
    assert signed_rank([1, 1, 1]) == (0.25, 1.0, 3, "exact")  # two of eight sign assignments are as extreme
    assert rank_sum([5, 5, 4], [1, 2]).effect == 1.0


def test_ties_are_robust_to_rounding() -> None:
    exact = signed_rank([1, -1, 2, 2, -3])
    assert signed_rank([1 + 1e-13, -1, 2, 2 - 1e-13, -3]).p_value == exact.p_value
    assert signed_rank([1e-13, 1, 2]).n == 2
    assert signed_rank([4e-9, 1, 2]).n == 3
    assert rank_sum([1 + 1e-13, 2], [1, 3]) == rank_sum([1, 2], [1, 3])
    assert rank_sum([1 + 4e-9, 2], [1, 3]).effect > rank_sum([1, 2], [1, 3]).effect


def test_rank_sum_without_ties_matches_scipy_exact_test() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(0.5, 1, 7), generator.normal(0, 1, 9)
    assert rank_sum(first, second).p_value == pytest.approx(stats.mannwhitneyu(first, second, method="exact").pvalue)


sample = st.lists(st.integers(1, 5), min_size=2, max_size=6)


@quick
@given(sample, sample)
def test_rank_sum_with_ties_matches_all_permutations(first: list[int], second: list[int]) -> None:
    assume(len({*first, *second}) > 1)
    found = rank_sum(first, second)
    assert found.p_value == pytest.approx(by_all_deals(first, second))
    back = rank_sum(second, first)
    assert (back.p_value, back.effect) == (pytest.approx(found.p_value), pytest.approx(-found.effect))


def test_rank_sum_of_separated_samples_has_smallest_p_value() -> None:
    # Of all splits only this one and its mirror image are as extreme: 2 of 6! / (3! 3!) = 20, and 2 of 70.
    assert rank_sum([1, 1, 1], [5, 5, 5]) == (pytest.approx(2 / 20), -1.0, 6, "exact")
    assert rank_sum([5, 4, 5, 5], [1, 1, 2, 1]) == (pytest.approx(2 / 70), 1.0, 8, "exact")


def test_rank_sum_p_value_is_at_most_one() -> None:
    """29 twos split as evenly as possible, 14 to 15; the splits of 60 values are too many for a float's precision."""
    assert rank_sum([1] * 16 + [2] * 14, [1] * 15 + [2] * 15).p_value == 1.0


def test_rank_sum_of_large_samples_uses_normal_approximation() -> None:
    generator = np.random.default_rng(4)
    first, second = generator.normal(0.5, 1, 60), generator.normal(0, 1, 50)
    found = rank_sum(first, second)
    asymptotic = stats.mannwhitneyu(first, second, method="asymptotic")
    assert (found.p_value, found.p) == (pytest.approx(asymptotic.pvalue), "normal")
    assert found.effect == pytest.approx(2 * asymptotic.statistic / (60 * 50) - 1)
    # At the largest size that is always exact, both methods agree.
    exact = rank_sum(first[:30], second[:30])
    near = stats.mannwhitneyu(first[:30], second[:30], method="asymptotic").pvalue
    assert (exact.p_value, exact.p) == (pytest.approx(near, rel=0.1), "exact")


def test_rank_sum_with_small_sample_is_exact() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.normal(1, 1, 3), generator.normal(0, 1, 320)
    found = rank_sum(first, second)
    assert (found.p_value, found.p) == (
        pytest.approx(stats.mannwhitneyu(first, second, method="exact").pvalue),
        "exact",
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: signed_rank([0, 0, 0]), "no test: all 3 differences are 0"),
        (lambda: signed_rank([]), "no test: all 0 differences are 0"),
        (lambda: rank_sum([1], [1, 2]), "no test for 1 and 2 values: each side needs at least two"),
        (lambda: rank_sum([1, 2], [1]), "no test for 2 and 1 values: each side needs at least two"),
        (lambda: rank_sum([], []), "no test for 0 and 0 values: each side needs at least two"),
        (lambda: rank_sum([3, 3], [3, 3]), "no test: all 4 values are 3"),
        (lambda: signed_rank([1, math.nan]), r"differences\[1\] is nan: leave out items without a finite number"),
        (lambda: rank_sum([1, 2], [math.inf, 3]), r"second\[0\] is inf: leave out items without a finite number"),
    ],
)
def test_too_few_constant_or_non_finite_values_raise_error(call: object, message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{message}$"):
        call()  # type: ignore[operator]


def test_false_positive_rate_is_near_alpha() -> None:
    """Without any true difference, at most one study in twenty has p <= .05, and not far fewer."""
    generator = np.random.default_rng(3)
    seen = sum(signed_rank(generator.integers(-2, 3, 25)).p_value <= 0.05 for _ in range(1000))
    assert 25 <= seen <= 65
    seen = sum(rank_sum(generator.integers(1, 6, 12), generator.integers(1, 6, 9)).p_value <= 0.05 for _ in range(1000))
    assert 25 <= seen <= 65
