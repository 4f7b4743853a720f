"""Power of A/B comparisons: how many a preference needs, and what preference a number of comparisons can detect.

Among ``n`` decided comparisons the number of wins is binomial, and the test is the exact two-sided sign test. Because
wins are whole numbers, its power goes up and down as ``n`` grows; the number returned is the first from which on the
power stays sufficient.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import Floats
from parlai_empathy.statistics.power import check_alpha, check_power

Counts = NDArray[np.int_]

_MOST = 100_000
"""More comparisons than anybody could have made."""


def sign_test_power(share: float, decided: int, alpha: float = 0.05) -> float:
    """Return the power of the exact two-sided sign test for a preference, 0..1.

    :param share: share of decided comparisons that one side wins, 0..1.
    :param decided: number of comparisons without ties, at least 1.
    :raises OptionError: for an invalid share or alpha.
    :raises NotComputableError: if there are no comparisons.
    """
    check_comparisons(share, decided)
    check_alpha(alpha)
    return float(_powers(share, np.array([decided]), alpha)[0])


def sign_test_comparisons(share: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return the smallest number of decided comparisons from which on the test has this power.

    :raises NotComputableError: if the share is one half, or more than 100,000 would be needed.
    :raises OptionError: for an invalid share, power or alpha.
    """
    _check_share(share)
    check_power(power, alpha)
    if share == 0.5:
        raise NotComputableError("no number of comparisons can detect a share of 0.5: neither side is preferred")
    guess = math.ceil(2 * sign_test_normal(share, power, alpha)) + 50
    if guess > 2 * _MOST:
        raise NotComputableError(f"more than {_MOST:,} comparisons would be needed for a share of {share}")
    # Beyond twice the normal approximation, plus fifty for small numbers, the power stays sufficient; so the last
    # number below it determines the result.
    counts = np.arange(1, guess + 1)
    powers = _powers(share, counts, alpha)
    below = counts[powers < power]
    return int(below[-1]) + 1 if len(below) else 1


def sign_test_normal(share: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the same by the textbook's normal approximation (Noether 1987 without his simplification).

    :raises OptionError: for an invalid power or alpha.
    """
    check_power(power, alpha)
    z = stats.norm.isf(alpha / 2) * 0.5 + stats.norm.ppf(power) * math.sqrt(share * (1 - share))
    return float((z / (share - 0.5)) ** 2)


def sign_test_detectable(decided: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest share above one half for which this number of comparisons has this power, 0.5..1.

    :raises NotComputableError: if not even a side that always wins would be detected.
    :raises OptionError: for an invalid power or alpha.
    """
    check_power(power, alpha)
    if sign_test_power(1.0, decided, alpha) < power:
        raise NotComputableError(
            f"{decided} decided comparisons can detect nothing at alpha {alpha:g}: more are needed"
        )
    return float(optimize.brentq(lambda share: sign_test_power(share, decided, alpha) - power, 0.5, 1.0, xtol=1e-10))


def _significant(decided: Counts, alpha: float) -> Counts:
    """Return, for each number of comparisons, the most wins that are still a significant defeat; -1 if none are."""
    most: Counts = stats.binom.ppf(alpha / 2, decided, 0.5).astype(int)
    for _ in range(2):  # ppf returns the first at or above alpha / 2
        too_many = stats.binom.cdf(most, decided, 0.5) > alpha / 2 * (1 + 1e-12)
        most = np.where(too_many, most - 1, most)
    return most


def _powers(share: float, decided: Counts, alpha: float) -> Floats:
    most = _significant(decided, alpha)
    powers: Floats = stats.binom.cdf(most, decided, share) + stats.binom.sf(decided - most - 1, decided, share)
    return powers


def check_comparisons(share: float, decided: int) -> None:
    """Check the number of decided comparisons and the share of them that one side wins.

    :raises OptionError: if the share does not lie between 0 and 1.
    :raises NotComputableError: if there are no comparisons.
    """
    _check_share(share)
    if decided < 1:
        raise NotComputableError(f"no power for {decided} comparisons: at least one is needed")


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise OptionError(f"win rate {share:g}: must lie between 0 and 1, ties left out")
