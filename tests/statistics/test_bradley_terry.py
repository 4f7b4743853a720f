"""Bradley-Terry strengths: worked out by hand, and compared with a second way to fit them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.bradley_terry import bradley_terry


def fitted(rows: list[list[float]]) -> list[float]:
    return list(bradley_terry(np.array(rows, dtype=float), list("ABCDEFG"[: len(rows)])))


def test_two_systems_match_hand_calculation() -> None:
    # 30 wins to 10: odds of 3, so log-odds of log 3, split evenly around 0.
    assert fitted([[0, 30], [10, 0]]) == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    # 5 wins, 4 ties, 1 loss: a tie is half a win, so 7 to 3.
    assert fitted([[0, 7], [3, 0]]) == pytest.approx([math.log(7 / 3) / 2, -math.log(7 / 3) / 2])


def test_three_systems_match_hand_calculation() -> None:
    # Wins in the ratios 2:1, 2:1 and 4:1 fit the strengths log 4, log 2 and log 1 exactly (their mean: log 2).
    assert fitted([[0, 20, 40], [10, 0, 20], [10, 10, 0]]) == pytest.approx([math.log(2), 0, -math.log(2)])
    # Each system wins as often as it loses.
    assert fitted([[0, 3, 1], [1, 0, 3], [3, 1, 0]]) == pytest.approx([0, 0, 0], abs=1e-9)


def test_systems_are_compared_indirectly_through_others() -> None:
    # A beats B 3:1 and B beats C 3:1: neighbours differ by log 3.
    assert fitted([[0, 3, 0], [1, 0, 3], [0, 1, 0]]) == pytest.approx([math.log(3), 0, -math.log(3)])


@settings(max_examples=40)
@given(st.lists(st.integers(1, 30), min_size=12, max_size=12))
def test_strengths_match_numerical_optimisation(counts: list[int]) -> None:
    wins = np.zeros((4, 4))
    wins[~np.eye(4, dtype=bool)] = counts

    def loss(free: np.ndarray) -> float:
        strengths = np.array([0.0, *free])
        return float(
            sum(wins[i, j] * np.log1p(np.exp(strengths[j] - strengths[i])) for i in range(4) for j in range(4))
        )

    other = np.array([0.0, *optimize.minimize(loss, np.zeros(3), method="BFGS").x])
    found = bradley_terry(wins, list("ABCD"))
    assert found == pytest.approx(other - other.mean(), abs=2e-4)
    assert found.sum() == pytest.approx(0, abs=1e-9)
    # At the maximum of the likelihood, the expected wins equal the observed ones.
    chances = 1 / (1 + np.exp(found[None, :] - found[:, None]))
    assert ((wins + wins.T) * chances).sum(axis=1) == pytest.approx(wins.sum(axis=1))


def test_extreme_win_counts_give_finite_strengths() -> None:
    assert fitted([[0, 10_000], [1, 0]]) == pytest.approx([math.log(1e4) / 2, -math.log(1e4) / 2])
    tiny = fitted([[0, 500, 500, 500], [0.5, 0, 500, 500], [0.5, 0.5, 0, 500], [0.5, 0.5, 0.5, 0]])
    assert all(map(math.isfinite, tiny))
    assert tiny == sorted(tiny, reverse=True)
    one_sided = [
        [0, 8499, 0, 126, 63],
        [1, 0, 0, 45, 0],
        [0, 2, 0, 439773, 0],
        [0, 7845419, 0, 0, 0],
        [0, 0, 1978, 0, 0],
    ]
    assert sum(fitted(one_sided)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0]], "no Bradley-Terry strengths for a single system: at least two are needed"),
        (
            [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
            "no Bradley-Terry strengths: A, B | C, D are never compared with one another, directly or through others: "
            "compare them",
        ),
        (
            [[0, 3], [0, 0]],
            "no Bradley-Terry strengths: A never lost or tied against the others, which would make the strength "
            "infinite: more comparisons are needed",
        ),
        (  # A and B beat each other, and nobody else beats them
            [[0, 1, 2], [1, 0, 2], [0, 0, 0]],
            "no Bradley-Terry strengths: A, B never lost or tied against the others, which would make the strength "
            "infinite: more comparisons are needed",
        ),
        (  # B, who beats C, is not named
            [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
            "no Bradley-Terry strengths: A never lost or tied against the others, which would make the strength "
            "infinite: more comparisons are needed",
        ),
        (  # C never wins: the same problem from the other side
            [[0, 1, 1], [1, 0, 0], [0, 0, 0]],
            "no Bradley-Terry strengths: A, B never lost or tied against the others, which would make the strength "
            "infinite: more comparisons are needed",
        ),
    ],
)
def test_undefined_strengths_raise_error(rows: list[list[float]], message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        fitted(rows)


def test_one_tie_makes_strengths_finite() -> None:
    assert fitted([[0, 3.5], [0.5, 0]]) == pytest.approx([math.log(7) / 2, -math.log(7) / 2])
