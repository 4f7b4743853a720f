"""The permutation test of two samples, compared with all permutations."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.permutation import permutation_p_value


def test_p_value_matches_all_permutations() -> None:
    first, second = [5, 4, 4, 3], [3, 2, 2, 1, 1]
    values = np.array([*first, *second], dtype=float)

    def apart(places: tuple[int, ...]) -> float:
        side = np.isin(np.arange(9), places)
        return abs(values[side].mean() - values[~side].mean())

    deals = [apart(places) for places in combinations(range(9), 4)]
    exact = np.mean([one >= apart((0, 1, 2, 3)) - 1e-9 for one in deals])
    assert permutation_p_value(first, second, 20_000) == pytest.approx(exact, abs=0.004)


def test_zero_difference_has_p_value_one() -> None:
    assert permutation_p_value([1, 1, 1], [1, 1]) == 1.0
    assert permutation_p_value([0.1, 0.2], [0.3, 0.0], 200) == 1.0  # observed difference: 0; none is smaller


def test_p_value_is_robust_to_rounding() -> None:
    """Sums of tenths in another order differ in their last digits, but are as far apart as those of whole numbers."""
    first, second = np.array([1, 2, 3, 3]), np.array([3, 1, 1, 1, 1])
    assert permutation_p_value(first / 10, second / 10, 500) == permutation_p_value(first, second, 500)


def test_smallest_p_value_is_one_over_resamples_plus_one() -> None:
    assert permutation_p_value(list(range(100, 150)), list(range(50)), 99) == 0.01


def test_same_seed_gives_same_p_value() -> None:
    first, second = [1, 5, 3, 2, 4, 4], [2, 2, 1, 4, 3, 1]
    assert permutation_p_value(first, second, 200, 1) == permutation_p_value(first, second, 200, 1)
    assert len({permutation_p_value(first, second, 200, seed) for seed in range(5)}) > 1


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_non_finite_value_raises_error(wrong: float) -> None:
    message = rf"^second\[1\] is {wrong}: leave out items without a finite number$"
    with pytest.raises(NotComputableError, match=message):
        permutation_p_value([1, 2, 4], [3, wrong, 5])


def test_too_few_values_or_resamples_raise_error() -> None:
    with pytest.raises(NotComputableError, match=r"^no test for 1 and 2 values: each side needs at least two$"):
        permutation_p_value([1], [1, 2])
    with pytest.raises(NotComputableError, match=r"^no test for 2 and 1 values: each side needs at least two$"):
        permutation_p_value([1, 2], [1])
    with pytest.raises(OptionError, match=r"^resamples 0: must be at least 1$"):
        permutation_p_value([1, 2], [1, 2], 0)
