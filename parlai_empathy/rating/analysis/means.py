"""A system's mean rating, with its standard error and interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.answers import Columns
from parlai_empathy.signature import signature
from parlai_empathy.statistics.bootstrap import interval_of
from parlai_empathy.statistics.cluster_bootstrap import cluster_bootstrap, cluster_count, weighted_mean


class SystemMean(NamedTuple):
    """The mean of all ratings of a system for one question.

    :param standard_error: the standard deviation divided by the square root of the number of ratings, as in the papers,
        which assumes independent ratings; None for a single rating.
    :param interval: the 95 % bootstrap interval, expanded for small samples, which does not assume independence; None
        if not computable.
    :param reason: why there is no interval; None if there is one.
    """

    ratings: int
    items: int
    raters: int
    mean: float
    standard_error: float | None
    interval: tuple[float, float] | None
    reason: str | None
    signature: str


def system_mean(ratings: Columns, clusters: str, resamples: int, seed: int) -> SystemMean:
    """Compute the mean of one system's ratings for one question.

    :param ratings: at least one; items and raters numbered from 0 without gaps.
    :param clusters: what is resampled: see :mod:`parlai_empathy.statistics.cluster_bootstrap`.
    """
    n, items, raters = len(ratings.values), int(ratings.items.max()) + 1, int(ratings.raters.max()) + 1
    interval, reason = None, None
    try:
        drawn = cluster_bootstrap(
            lambda weights: weighted_mean(ratings.values, weights),
            ratings.items,
            ratings.raters,
            clusters,
            resamples,
            seed,
        )
        interval = interval_of(drawn, cluster_count(ratings.items, ratings.raters, clusters), of_means=True)
    except NotComputableError as error:
        reason = str(error)
    standard_error = float(np.std(ratings.values, ddof=1)) / n**0.5 if n > 1 else None
    made = signature("mean", ratings="all", interval="95%, expanded", drawn=clusters, resamples=resamples, seed=seed)
    return SystemMean(n, items, raters, float(ratings.values.mean()), standard_error, interval, reason, made)
