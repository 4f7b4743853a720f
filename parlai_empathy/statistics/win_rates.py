"""Which of two systems people prefer: wins, ties and losses, with an exact test.

The test is the sign test: without a preference, each decided comparison would be a coin toss. Ties favour neither side
and are excluded (Dixon and Mood 1946); they reduce the test's power. The interval is that of Clopper and Pearson
(1934), which is valid for any number of comparisons.
"""

from __future__ import annotations

from typing import NamedTuple

from scipy import stats

from parlai_empathy.errors import NotComputableError


class WinRate(NamedTuple):
    """How often the first of two systems is preferred.

    :param share: share of the decided comparisons that it wins, 0..1.
    :param low: the lower end of the share's exact 95 % interval.
    :param high: its upper end.
    :param p_value: two-sided, against a share of one half.
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
