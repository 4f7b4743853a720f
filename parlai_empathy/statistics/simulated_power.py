"""Power by simulation: studies are drawn and tested, and the power is the share of them that detect the difference.

This checks the formulas, and covers what they do not: how rank tests perform on the points of a scale, where ratings
are discrete and bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import Floats
from parlai_empathy.statistics.likert_power import LikertDesign, check_items
from parlai_empathy.statistics.power import check_alpha
from parlai_empathy.statistics.rank_tests import rank_sum, signed_rank
from parlai_empathy.statistics.sign_test_power import check_comparisons

_AT_ONCE = 1_000_000  # ratings of one system in memory at a time


def simulated_t_test_power(
    design: LikertDesign, difference: float, items: int, alpha: float = 0.05, runs: int = 2000, seed: int = 0
) -> float:
    """Return the power of :func:`parlai_empathy.statistics.likert_power.likert_power` by simulation.

    Ratings are drawn from normal distributions.

    :param runs: number of simulated studies, at least 1.
    :raises OptionError: for an invalid alpha or number of runs.
    :raises NotComputableError: if there are fewer than two items.
    """
    test = stats.ttest_rel if design.paired else stats.ttest_ind
    seen = 0.0
    for first, second in _studies(design, difference, items, alpha, runs, seed):
        seen += (test(first.mean(axis=-1), second.mean(axis=-1), axis=1).pvalue <= alpha).sum()
    return float(seen / runs)


def simulated_rank_test_power(
    design: LikertDesign,
    difference: float,
    items: int,
    scale: Sequence[float],
    mean: float,
    alpha: float = 0.05,
    runs: int = 2000,
    seed: int = 0,
) -> float:
    """Return the power of a rank test when each rating is rounded to the nearest point of a scale.

    The test is the signed-rank test for paired designs, otherwise the Mann-Whitney test. The ends of the scale clip
    ratings, and with them some of the difference: this is part of the result.

    :param scale: its points, at least two.
    :param mean: mean of both systems together, in points, before clipping.
    :param runs: number of simulated studies, at least 1.
    :raises OptionError: if the scale has fewer than two different points, or for an invalid alpha or number of runs.
    :raises NotComputableError: if there are fewer than two items.
    """
    points = np.array(sorted(set(scale)), dtype=np.float64)
    if len(points) < 2:
        raise OptionError(f"scale {', '.join(f'{point:g}' for point in points)}: at least two points are needed")
    borders = (points[1:] + points[:-1]) / 2
    seen = 0.0
    for drawn in _studies(design, difference, items, alpha, runs, seed):
        first, second = (points[np.searchsorted(borders, mean + ratings)].mean(axis=-1) for ratings in drawn)
        seen += sum(_p_value(*study, design.paired) <= alpha for study in zip(first, second, strict=True))
    return float(seen / runs)


def simulated_sign_test_power(
    share: float, decided: int, alpha: float = 0.05, runs: int = 2000, seed: int = 0
) -> float:
    """Return the power of the exact sign test by simulation.

    :param share: share of decided comparisons that one side wins, 0..1.
    :raises OptionError: for an invalid share, alpha or number of runs.
    :raises NotComputableError: if there are no comparisons.
    """
    check_alpha(alpha)
    _check_runs(runs)
    check_comparisons(share, decided)
    wins = np.random.default_rng(seed).binomial(decided, share, size=runs)
    different, times = np.unique(wins, return_counts=True)
    p_values = np.array([stats.binomtest(int(one), decided).pvalue for one in different])
    return float(times[p_values <= alpha].sum() / runs)


def _studies(
    design: LikertDesign, difference: float, items: int, alpha: float, runs: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield ratings of both systems, centred on 0, ``(some runs, items, raters)`` each."""
    check_alpha(alpha)
    _check_runs(runs)
    check_items(items)
    generator = np.random.default_rng(seed)
    most = max(1, _AT_ONCE // (items * design.raters))
    for start in range(0, runs, most):
        shape = (min(most, runs - start), items, 1)
        shared = math.sqrt(design.same_item) * generator.standard_normal(shape)
        drawn = []
        for sign in (1, -1):
            own = math.sqrt(design.same_reply - design.same_item) * generator.standard_normal(shape)
            rest = generator.standard_normal((*shape[:2], design.raters)) * math.sqrt(1 - design.same_reply)
            drawn.append(design.sd * (shared + own + rest) + sign * difference / 2)
        yield drawn[0], drawn[1]


def _check_runs(runs: int) -> None:
    if runs < 1:
        raise OptionError(f"runs {runs}: at least 1 is needed")


def _p_value(first: Floats, second: Floats, paired: bool) -> float:
    """Return the rank test's p-value; 1 if the ratings leave nothing to test."""
    try:
        return (signed_rank(first - second) if paired else rank_sum(first, second)).p_value
    except NotComputableError:
        return 1.0
