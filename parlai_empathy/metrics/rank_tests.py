"""Whether ratings differ, by their ranks alone: Wilcoxon's signed-rank test and the test of Mann and Whitney.

Ranks need no equal steps between the points of a scale. Ratings have many ties and zeros, for which tables of these
tests do not hold; here their distributions are counted for the ranks that are there, ties and all.

The effect beside each p-value is the rank-biserial correlation (Kerby 2014), -1..1: how much of all ranks, or of all
pairs, speaks for the first, less how much speaks for the second. For two samples it is also called Cliff's delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.bootstrap import Floats

_MOST_EXACT = 200
"""As many differences are counted exactly; of more, the normal distribution says the same to three digits."""
_MOST_PAIRS = 900
"""As many pairs of a value of each sample, such as 30 times 30, are counted exactly; more would take long. Of them the
normal distribution's p-values are within a tenth about .05, and rather too large where they are small."""


class RankTest(NamedTuple):
    """What a test of ranks found.

    :param p_value: of no difference, two-sided, above 0 and at most 1.
    :param effect: the rank-biserial correlation, above 0 where the first is rated higher.
    :param n: how many differences, or ratings of both, the test used.
    :param p: how the p-value is known: ``exact``, counted, or ``normal``, by the normal distribution.
    """

    p_value: float
    effect: float
    n: int
    p: str


def signed_rank(differences: Sequence[float] | Floats) -> RankTest:
    """Wilcoxon's signed-rank test (Wilcoxon 1945): differences of 0 are left out, equal ones share their ranks.

    :param differences: first less second, pair by pair.
    :raises NotComputableError: if there is no difference but 0.
    """
    known = np.asarray(differences, dtype=np.float64)
    # Means of the same ratings in another order may differ in their last digits, and be a tie all the same.
    known = np.round(known, 9)
    known = known[known != 0]
    if not len(known):
        raise NotComputableError(f"no test: all {len(differences)} differences are 0")
    ranks = stats.rankdata(np.abs(known))
    positive, total = float(ranks[known > 0].sum()), float(ranks.sum())
    exact = len(known) <= _MOST_EXACT
    if exact:
        p_value = _share_of_signs(ranks, positive)
    else:
        p_value = _normal(positive - total / 2, np.sqrt((ranks**2).sum()) / 2)
    return RankTest(p_value, (2 * positive - total) / total, len(known), "exact" if exact else "normal")


def _share_of_signs(ranks: Floats, positive: float) -> float:
    """The share of all ways to put signs to the ranks that give as extreme a sum of the positive ones."""
    doubled = _doubled(ranks)
    low = min(round(2 * positive), sum(doubled) - round(2 * positive))
    ways = np.zeros(low + 1)  # to each sum as low; there are as many to those as high
    ways[0] = 1.0
    most = 0
    for rank in doubled:  # with this rank's sign -, the sum stays; with +, it grows
        if rank > low:
            break
        most = min(low, most + rank)
        ways[rank : most + 1] += ways[: most + 1 - rank]
    return min(1.0, float(2 * ways.sum() / 2.0 ** len(doubled)))


def rank_sum(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> RankTest:
    """The test of Mann and Whitney (1947), for two samples that have nothing to do with each other.

    :raises NotComputableError: if a sample has fewer than two values, or all values are the same.
    """
    one, other = (np.round(np.asarray(values, dtype=np.float64), 9) for values in (first, second))
    if len(one) < 2 or len(other) < 2:
        raise NotComputableError(f"no test of {len(one)} and {len(other)} values: each side needs two")
    if len({*one, *other}) < 2:
        raise NotComputableError(f"no test: all {len(one) + len(other)} values are {one[0]:g}")
    ranks = stats.rankdata([*one, *other])
    wins = float(ranks[: len(one)].sum()) - len(one) * (len(one) + 1) / 2
    pairs = len(one) * len(other)
    exact = pairs <= _MOST_PAIRS
    if exact:
        p_value = _share_of_deals(ranks, len(one))
    else:
        p_value = _normal(wins - pairs / 2, np.sqrt(pairs / len(ranks)) * ranks.std(ddof=1))
    return RankTest(p_value, 2 * wins / pairs - 1, len(ranks), "exact" if exact else "normal")


def _share_of_deals(ranks: Floats, first: int) -> float:
    """The share of all deals of the ranks to the two samples whose sums are as far from what they are on average.

    :param first: how many ranks, those in front, are the first sample's.
    """
    fewer = ranks[:first] if 2 * first <= len(ranks) else ranks[first:]  # the other's sum is the rest
    doubled, dealt = _doubled(ranks), len(fewer)
    ways = np.zeros((dealt + 1, sum(doubled[-dealt:]) + 1))  # to deal so many of the ranks, to each sum of them
    ways[0, 0] = 1.0
    most = 0
    for seen, rank in enumerate(doubled):  # this rank is not dealt, and the sum stays; or it is, and the sum grows
        many, most = min(seen + 1, dealt), min(most + rank, ways.shape[1] - 1)
        ways[1 : many + 1, rank : most + 1] += ways[:many, : most + 1 - rank]
    average = dealt * (len(ranks) + 1)
    far = np.abs(np.arange(ways.shape[1]) - average) >= abs(2 * fewer.sum() - average)
    share = float(ways[dealt, far].sum() / ways[dealt].sum())
    return min(1.0, share)  # more ways than a float has digits for are rounded


def _doubled(ranks: Floats) -> list[int]:
    """Twice the ranks, in order: shared ones may be halves."""
    doubled: list[int] = np.sort(np.rint(2 * ranks)).astype(int).tolist()
    return doubled


def _normal(distance: float, spread: float) -> float:
    """How probably a sum of ranks lies so far from its average, with half a step off for its being continuous."""
    return math.erfc(max(0.0, abs(distance) - 0.5) / (spread * math.sqrt(2)))
