"""Rank tests of whether ratings differ: Wilcoxon's signed-rank test and the Mann-Whitney test.

Ranks do not require equal steps between the points of a scale. Ratings have many ties and zeros, for which the usual
tables of these tests are not valid; here the exact distributions are computed for the observed ranks, ties included.

The effect size next to each p-value is the rank-biserial correlation (Kerby 2014), -1..1: the share of all ranks, or of
all pairs, that favours the first, minus the share that favours the second. For two samples it is also called Cliff's
delta.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.statistics.bootstrap import Floats
from parlai_empathy.statistics.finite import finite_columns

Whole = NDArray[np.int64]

_MOST_STEPS = 5_000_000
"""Maximum number of additions for the exact test, which take some ten milliseconds. It suffices for 200 differences, or
30 values in each sample, and for more if one sample is small or the values have few points: 135 in each if they are
yes and no. Beyond it, p-values of the normal approximation around .05 are within a tenth of the exact ones; on scales
of three and four points within a quarter, and with half a dozen values in one sample within a half."""


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
    :raises NotComputableError: if all differences are 0, or one is not finite.
    """
    (known,) = finite_columns(differences=differences)
    # Means of the same ratings in a different order may differ in their last digits, but are ties.
    known = np.round(known, 9)
    known = known[known != 0]
    if not len(known):
        raise NotComputableError(f"no test: all {len(differences)} differences are 0")
    ranks = stats.rankdata(np.abs(known))
    positive, total = float(ranks[known > 0].sum()), float(ranks.sum())
    multiples, step = _on_lattice(ranks)
    exact = len(ranks) * (multiples.sum() // 2 + 1) <= _MOST_STEPS
    if exact:
        p_value = _share_of_signs(multiples, known > 0)
    else:
        p_value = _normal(positive - total / 2, np.sqrt((ranks**2).sum()) / 2, step)
    return RankTest(p_value, (2 * positive - total) / total, len(known), "exact" if exact else "normal")


def _share_of_signs(ranks: Whole, positive: NDArray[np.bool_]) -> float:
    """Return the share of all assignments of signs to the ranks whose sum of positive ranks is at least as extreme."""
    low = int(min(ranks[positive].sum(), ranks[~positive].sum()))
    share = np.zeros(low + 1)  # of the assignments, by their sum, up to the lower one; as many are in the upper tail
    share[0] = 1.0
    for rank in ranks.tolist():  # if its sign is -, the sum stays; if +, it grows
        share /= 2
        share[rank:] += share[: max(0, low + 1 - rank)]
    return _above_0(min(1.0, 2 * float(share.sum())))


def rank_sum(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> RankTest:
    """Compute the Mann-Whitney test (Mann and Whitney 1947) for two independent samples.

    :raises NotComputableError: if a sample has fewer than two values, all values are equal, or one is not finite.
    """
    one, other = (np.round(values, 9) for values in finite_columns(first=first, second=second))
    if len(one) < 2 or len(other) < 2:
        raise NotComputableError(f"no test for {len(one)} and {len(other)} values: each side needs at least two")
    if len({*one, *other}) < 2:
        raise NotComputableError(f"no test: all {len(one) + len(other)} values are {one[0]:g}")
    ranks = stats.rankdata([*one, *other])
    wins = float(ranks[: len(one)].sum()) - len(one) * (len(one) + 1) / 2
    pairs = len(one) * len(other)
    multiples, step = _on_lattice(ranks - ranks.min())
    dealt = min(len(one), len(other))
    highest = int(np.sort(multiples)[-dealt:].sum())  # possible sum of the smaller sample
    exact = len(ranks) * dealt * (highest + 1) <= _MOST_STEPS
    exact = exact and math.comb(len(ranks), dealt) < sys.float_info.max  # the ways to deal are counted in floats
    if exact:
        smaller = multiples[:dealt] if len(one) == dealt else multiples[-dealt:]
        p_value = _share_of_deals(multiples, smaller, highest)
    else:
        p_value = _normal(wins - pairs / 2, np.sqrt(pairs / len(ranks)) * ranks.std(ddof=1), step)
    return RankTest(p_value, 2 * wins / pairs - 1, len(ranks), "exact" if exact else "normal")


def _share_of_deals(ranks: Whole, smaller: Whole, highest: int) -> float:
    """Return the share of all assignments of ranks to the two samples whose rank sums are at least as far from average.

    :param smaller: the ranks of one sample, the smaller one; the other sample's sum is the rest.
    :param highest: the largest possible sum of as many ranks.
    """
    dealt, total = len(smaller), int(ranks.sum())
    ways = np.zeros((dealt + 1, highest + 1))  # to choose that many ranks, by their sum
    ways[0, 0] = 1.0
    most = 0
    for seen, rank in enumerate(np.sort(ranks).tolist()):  # without this rank the sum stays; with it, it grows
        many, most = min(seen + 1, dealt), min(most + rank, highest)
        ways[1 : many + 1, rank : most + 1] += ways[:many, : most + 1 - rank]
    distances = np.abs(len(ranks) * np.arange(highest + 1) - dealt * total)  # times the number of ranks, to be whole
    far = distances >= abs(len(ranks) * int(smaller.sum()) - dealt * total)
    share = float(ways[dealt, far].sum() / ways[dealt].sum())
    return _above_0(min(1.0, share))  # counts beyond a float's precision are rounded


def _on_lattice(ranks: Floats) -> tuple[Whole, float]:
    """Return ranks as whole multiples of the largest possible step, and the step.

    With ties a sum of ranks moves in steps that differ from 1: halves, or half of all ranks if there are two values.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    step = int(np.gcd.reduce(doubled))
    return doubled // step, step / 2


def _normal(distance: float, spread: float, step: float) -> float:
    """Return the two-sided p-value of a rank sum at this distance from its average, with continuity correction.

    :param step: the step in which the sum moves.
    """
    return _above_0(math.erfc(max(0.0, abs(distance) - step / 2) / (spread * math.sqrt(2))))


def _above_0(p_value: float) -> float:
    return max(p_value, sys.float_info.min)  # the smallest ones would be rounded to 0
