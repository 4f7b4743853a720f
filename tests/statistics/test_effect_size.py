"""Cohen's d, by hand."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.effect_size import cohens_d


def test_cohens_d_matches_hand_calculation() -> None:
    # Means 4 and 2; the squares (1 + 0 + 1) + (1 + 0 + 1) = 4 with 4 degrees of freedom: a standard deviation of 1.
    assert cohens_d([3, 4, 5], [1, 2, 3]) == pytest.approx(2.0)
    assert cohens_d([1, 2, 3], [3, 4, 5]) == pytest.approx(-2.0)
    # Means 3 and 5; the squares 8 + 0 of two and three values, with 3 degrees of freedom: sd = sqrt(8 / 3).
    assert cohens_d([1, 5], [5, 5, 5]) == pytest.approx(-2 / (8 / 3) ** 0.5)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1], [2], "no Cohen's d for 1 and 1 values: at least three are needed"),
        ([], [1, 2, 3], "no Cohen's d for 0 and 3 values: at least three are needed"),
        ([2, 2], [1, 1], "no Cohen's d: the values on each side are all the same"),
        ([0.1 + 0.2, 0.3], [0.3, 0.3], "no Cohen's d: the values on each side are all the same"),
    ],
)
def test_too_few_or_constant_values_raise_error(first: list[float], second: list[float], message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{message}$"):
        cohens_d(first, second)
