"""Whether ratings differ, by their ranks alone: Wilcoxon's signed-rank test and the test of Mann and Whitney.

Ranks need no equal steps between the points of a scale. Ratings have many ties and zeros, for which tables of the
signed-rank test do not hold; here its distribution is counted for the ranks that are there, ties and all.

The effect beside each p-value is the rank-biserial correlation (Kerby 2014), -1..1: how much of all ranks, or of all
pairs, speaks for the first, less how much speaks for the second. For two samples it is also called Cliff's delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.bootstrap import Floats

_MOST_EXACT = 200
"""As many differences are counted exactly; of more, the normal distribution says the same to three digits."""


class RankTest(NamedTuple):
    """What a test of ranks found.

    :param p_value: of no difference, two-sided, above 0 and at most 1.
    :param effect: the rank-biserial correlation, above 0 where the first is rated higher.
    :param n: how many differences, or ratings of both, the test used.
    """

    p_value: float
    effect: float
    n: int


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
    p_value = _exact(ranks, positive) if len(known) <= _MOST_EXACT else _normal(ranks, positive)
    return RankTest(p_value, (2 * positive - total) / total, len(known))


def _exact(ranks: Floats, positive: float) -> float:
    """The share of all ways to put signs to the ranks that give as extreme a sum of the positive ones."""
    doubled = np.sort(np.rint(2 * ranks)).astype(int).tolist()  # shared ranks may be halves
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


def _normal(ranks: Floats, positive: float) -> float:
    """The same from the normal distribution, with half a step off for its being continuous."""
    distance = max(0.0, abs(positive - ranks.sum() / 2) - 0.5)
    return min(1.0, float(2 * stats.norm.sf(distance / np.sqrt((ranks**2).sum() / 4))))


def rank_sum(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> RankTest:
    """The test of Mann and Whitney (1947), for two samples that have nothing to do with each other.

    :raises NotComputableError: if a sample has fewer than two values, or all values are the same.
    """
    one, other = (np.round(np.asarray(values, dtype=np.float64), 9) for values in (first, second))
    if len(one) < 2 or len(other) < 2:
        raise NotComputableError(f"no test of {len(one)} and {len(other)} values: each side needs two")
    if len({*one, *other}) < 2:
        raise NotComputableError(f"no test: all {len(one) + len(other)} values are {one[0]:g}")
    found = stats.mannwhitneyu(one, other)
    effect = 2 * float(found.statistic) / (len(one) * len(other)) - 1
    return RankTest(float(found.pvalue), effect, len(one) + len(other))
