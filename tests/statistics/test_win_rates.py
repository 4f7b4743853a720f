"""The sign test and its interval, by hand and by counting."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.win_rates import win_rate


def test_win_rate_matches_hand_calculation() -> None:
    # 8 of 10: (45 + 10 + 1) * 2 / 1024 of all outcomes are at least as far from 5.
    found = win_rate(8, 5, 2)
    assert found.p_value == pytest.approx(112 / 1024)
    assert (found.wins, found.ties, found.losses, found.share) == (8, 5, 2, 0.8)
    # The Clopper-Pearson interval from the beta distribution.
    assert found.low == pytest.approx(stats.beta.ppf(0.025, 8, 3))
    assert found.high == pytest.approx(stats.beta.ppf(0.975, 9, 2))


def test_interval_of_only_wins_matches_hand_calculation() -> None:
    found = win_rate(5, 0, 0)
    assert (found.share, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 5))  # at this rate five of five has probability 1/40
    assert found.p_value == pytest.approx(2 / 32)


@given(st.integers(0, 40), st.integers(0, 20), st.integers(0, 40))
def test_p_value_matches_counted_outcomes(wins: int, ties: int, losses: int) -> None:
    if wins + losses == 0:
        return
    n, far = wins + losses, abs(wins - losses)
    ways = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= far)
    found = win_rate(wins, ties, losses)
    assert found.p_value == pytest.approx(ways / 2**n)
    assert found.p_value == win_rate(losses, 0, wins).p_value
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_win_rate_without_decided_comparisons_raises_error() -> None:
    with pytest.raises(NotComputableError, match=r"^no win rate: all 7 comparisons are ties$"):
        win_rate(0, 7, 0)
    with pytest.raises(NotComputableError, match=r"^no win rate: there are no comparisons$"):
        win_rate(0, 0, 0)
