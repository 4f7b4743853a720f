"""Rank tests of whether ratings differ: Wilcoxon's signed-rank test and the Mann-Whitney test.

Ranks do not require equal steps between the points of a scale. Ratings have many ties and zeros, for which the usual
tables of these tests are not valid; here the exact distributions are computed for the observed ranks, ties included.

The effect size next to each p-value is the rank-biserial correlation (Kerby 2014), -1..1: the share of all ranks, or of
all pairs, that favours the first, minus the share that favours the second. For two samples it is also called Cliff's
delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.bootstrap import Floats

_MOST_EXACT = 200
"""Maximum number of differences for the exact test; beyond it, the normal approximation agrees to three digits."""
_MOST_PAIRS = 900
"""Maximum number of pairs of values, one from each sample (such as 30 times 30), for the exact test; more would take
long. Beyond it, the normal approximation's p-values are within a tenth around .05, and rather too large if small."""


class RankTest(NamedTuple):
    """The result of a rank test.

    :param p_value: two-sided, against no difference; above 0 and at most 1.
    :param effect: the rank-biserial correlation, above 0 if the first is rated higher.
    :param n: number of differences, or of ratings in both samples, that the test used.
    :param p: how the p-value was computed: ``exact``, or ``normal`` for the normal approximation.
    """

    p_value: float
    effect: float
    n: int
    p: str


def signed_rank(differences: Sequence[float] | Floats) -> RankTest:
    """Compute Wilcoxon's signed-rank test (Wilcoxon 1945): differences of 0 are dropped, equal ones get mean ranks.

    :param differences: first minus second, for each pair.
    :raises NotComputableError: if all differences are 0.
    """
    known = np.asarray(differences, dtype=np.float64)
    # Means of the same ratings in a different order may differ in their last digits, but are ties.
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
    """Return the share of all assignments of signs to the ranks whose sum of positive ranks is at least as extreme."""
    doubled = _doubled(ranks)
    low = min(round(2 * positive), sum(doubled) - round(2 * positive))
    ways = np.zeros(low + 1)  # to reach each sum up to the observed one; the upper tail has as many
    ways[0] = 1.0
    most = 0
    for rank in doubled:  # if this rank's sign is -, the sum stays; if +, it grows
        if rank > low:
            break
        most = min(low, most + rank)
        ways[rank : most + 1] += ways[: most + 1 - rank]
    return min(1.0, float(2 * ways.sum() / 2.0 ** len(doubled)))


def rank_sum(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> RankTest:
    """Compute the Mann-Whitney test (Mann and Whitney 1947) for two independent samples.

    :raises NotComputableError: if a sample has fewer than two values, or all values are equal.
    """
    one, other = (np.round(np.asarray(values, dtype=np.float64), 9) for values in (first, second))
    if len(one) < 2 or len(other) < 2:
        raise NotComputableError(f"no test for {len(one)} and {len(other)} values: each side needs at least two")
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
    """Return the share of all assignments of ranks to the two samples whose rank sums are at least as far from average.

    :param first: size of the first sample, whose ranks come first.
    """
    fewer = ranks[:first] if 2 * first <= len(ranks) else ranks[first:]  # the other sample's sum is the rest
    doubled, dealt = _doubled(ranks), len(fewer)
    ways = np.zeros((dealt + 1, sum(doubled[-dealt:]) + 1))  # to choose that many ranks, by their sum
    ways[0, 0] = 1.0
    most = 0
    for seen, rank in enumerate(doubled):  # without this rank the sum stays; with it, it grows
        many, most = min(seen + 1, dealt), min(most + rank, ways.shape[1] - 1)
        ways[1 : many + 1, rank : most + 1] += ways[:many, : most + 1 - rank]
    average = dealt * (len(ranks) + 1)
    far = np.abs(np.arange(ways.shape[1]) - average) >= abs(2 * fewer.sum() - average)
    share = float(ways[dealt, far].sum() / ways[dealt].sum())
    return min(1.0, share)  # counts beyond a float's precision are rounded


def _doubled(ranks: Floats) -> list[int]:
    """Return twice the ranks, sorted: tied ranks may be halves."""
    doubled: list[int] = np.sort(np.rint(2 * ranks)).astype(int).tolist()
    return doubled


def _normal(distance: float, spread: float) -> float:
    """Return the two-sided p-value of a rank sum at this distance from its average, with continuity correction."""
    return math.erfc(max(0.0, abs(distance) - 0.5) / (spread * math.sqrt(2)))
