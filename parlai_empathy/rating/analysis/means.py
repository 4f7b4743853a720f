"""A system's mean rating, and how sure it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.bootstrap import expanded_interval
from parlai_empathy.metrics.cluster_bootstrap import cluster_bootstrap, cluster_count, weighted_mean
from parlai_empathy.metrics.signature import signature
from parlai_empathy.rating.analysis.answers import Columns


class SystemMean(NamedTuple):
    """The mean of all ratings that a system got for one question.

    :param standard_error: the standard deviation divided by the root of the number of ratings, as the papers give it,
        which takes all ratings for independent; None for a single rating.
    :param interval: 95 %, by the bootstrap, expanded for few, which does not take them for that; None if there is none.
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
    """Of one system's ratings of one question.

    :param ratings: at least one; items and raters numbered from 0 without gaps.
    :param clusters: what is drawn anew: see :mod:`parlai_empathy.metrics.cluster_bootstrap`.
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
        interval = expanded_interval(drawn, cluster_count(ratings.items, ratings.raters, clusters))
    except NotComputableError as error:
        reason = str(error)
    standard_error = float(np.std(ratings.values, ddof=1)) / n**0.5 if n > 1 else None
    made = signature("mean", ratings="all", interval="95%, expanded", drawn=clusters, resamples=resamples, seed=seed)
    return SystemMean(n, items, raters, float(ratings.values.mean()), standard_error, interval, reason, made)
