"""Bootstrap intervals for statistics of ratings: items, raters or both are resampled, with all their ratings.

Several ratings of one item are correlated, and so are several by one rater: they carry less information than as many
independent ratings. So clusters of ratings are drawn with replacement instead of single ratings:

``item``
    all ratings of a drawn item are included. It answers: what would other items have given, with the same raters?
``rater``
    all ratings of a drawn rater are included: what would other raters have given, on the same items?
``both``
    items and raters are drawn independently, and a rating's weight is the number of times that its item was drawn,
    times that of its rater (the pigeonhole bootstrap of Owen 2007, whose intervals are conservative): other items and
    other raters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import Floats, Places, bootstrap

CLUSTERS = ("item", "rater", "both")

Weighted = Callable[[Floats], float]
"""A statistic of ratings with weights ``(n,)``; it raises :class:`NotComputableError` if it has no value."""


def cluster_bootstrap(
    statistic: Weighted, items: Places, raters: Places, clusters: str = "item", resamples: int = 1000, seed: int = 0
) -> Floats:
    """Compute a statistic on each of many resamples of the clusters, drawn with replacement.

    :param items: ``(n,)``, the index of each rating's item.
    :param raters: ``(n,)``, the index of each rating's rater.
    :param clusters: one of :data:`CLUSTERS`.
    :returns: ``(usable resamples,)``
    :raises NotComputableError: if there are fewer than two clusters, or fewer than half of the resamples are usable.
    :raises OptionError: for unknown clusters.
    """
    cluster_count(items, raters, clusters)  # raises errors
    sizes = {"item": _size(items), "rater": _size(raters)}
    generator = np.random.default_rng([seed, 1])  # for raters, when bootstrap() draws the items

    def value_of(drawn: Places) -> float:
        if clusters == "rater":
            return statistic(_times(drawn, sizes["rater"])[raters])
        weights = _times(drawn, sizes["item"])[items]
        if clusters == "both":
            people = generator.integers(sizes["rater"], size=sizes["rater"])
            weights = weights * _times(people, sizes["rater"])[raters]
        return statistic(weights)

    return bootstrap(value_of, sizes["rater" if clusters == "rater" else "item"], resamples, seed)


def cluster_count(items: Places, raters: Places, clusters: str) -> int:
    """Return the number of clusters; for ``both`` the smaller of the numbers of items and of raters.

    :raises NotComputableError: if it is below two: all resamples would be the same, and the value would look certain.
    :raises OptionError: for unknown clusters.
    """
    if clusters not in CLUSTERS:
        raise OptionError(f"clusters {clusters!r}: must be one of {', '.join(CLUSTERS)}")
    counts = {"item": len(np.unique(items)), "rater": len(np.unique(raters))}
    drawn = {name: count for name, count in counts.items() if clusters in (name, "both")}
    for name, count in drawn.items():
        if count < 2:
            raise NotComputableError(f"no interval: {count} {name}{'' if count == 1 else 's'}; at least two are needed")
    return min(drawn.values())


def weighted_mean(values: Floats, weights: Floats) -> float:
    """Return the weighted mean of values.

    :raises NotComputableError: if all weights are 0.
    """
    total = float(weights.sum())
    if not total:
        raise NotComputableError("no mean: no rating was drawn")
    return float(values @ weights) / total


def _size(numbers: Places) -> int:
    return int(numbers.max()) + 1


def _times(drawn: Places, size: int) -> Floats:
    """Count how often each of ``size`` clusters was drawn."""
    return np.bincount(drawn, minlength=size).astype(np.float64)
