"""Which of two systems people prefer: wins, ties and losses, and an exact test of them.

The test is the sign test: if nobody preferred either, each decided comparison would be a coin that is thrown. Ties say
nothing for either side and are left out of it (Dixon and Mood 1946); they make it see less, not more. The interval is
that of Clopper and Pearson (1934), which holds however few comparisons there are.
"""

from __future__ import annotations

from typing import NamedTuple

from scipy import stats

from parlai_empathy.errors import NotComputableError


class WinRate(NamedTuple):
    """How often the first of two systems is preferred.

    :param share: of the decided comparisons, 0..1.
    :param low: the lower end of its exact 95 % interval.
    :param high: its upper end.
    :param p_value: of a share of one half, two-sided.
    """

    wins: int
    ties: int
    losses: int
    share: float
    low: float
    high: float
    p_value: float


def win_rate(wins: int, ties: int, losses: int) -> WinRate:
    """Test whether the first system is preferred.

    :raises NotComputableError: if no comparison is decided.
    """
    decided = wins + losses
    if not decided:
        raise NotComputableError(
            f"no win rate: all {ties} comparisons are ties" if ties else "no win rate: there are no comparisons"
        )
    test = stats.binomtest(wins, decided)
    interval = test.proportion_ci(0.95, method="exact")
    return WinRate(
        wins, ties, losses, wins / decided, float(interval.low), float(interval.high), min(1.0, float(test.pvalue))
    )
