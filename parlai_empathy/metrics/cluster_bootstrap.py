"""How sure a number is that is computed of ratings: items, raters or both are drawn anew, with all their ratings.

Several ratings of one item are alike, and so are several by one rater: there is less in them than in as many that have
nothing to do with one another. So what is drawn with replacement are not ratings but clusters of them:

``item``
    every rating of a drawn item comes along. It answers: what would other items have given, from these raters?
``rater``
    every rating of a drawn rater comes along: what would other raters have said of these items?
``both``
    items and raters are drawn apart, and a rating counts as often as its item times as often as its rater (the
    pigeonhole bootstrap of Owen 2007, whose intervals err on the wide side): other items and other raters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.bootstrap import Floats, Places, bootstrap

CLUSTERS = ("item", "rater", "both")

Weighted = Callable[[Floats], float]
"""A statistic of ratings that count ``(n,)`` times each; it raises :class:`NotComputableError` where there is none."""


def cluster_bootstrap(
    statistic: Weighted, items: Places, raters: Places, clusters: str = "item", resamples: int = 1000, seed: int = 0
) -> Floats:
    """Compute a statistic on clusters that are drawn with replacement, again and again.

    :param items: ``(n,)``, the number of each rating's item, from 0.
    :param raters: ``(n,)``, the number of its rater, from 0.
    :param clusters: one of :data:`CLUSTERS`.
    :returns: ``(usable resamples,)``
    :raises NotComputableError: if there are fewer than two of what is drawn, or fewer than half of the resamples could
        be used.
    :raises OptionError: for other clusters.
    """
    cluster_count(items, raters, clusters)  # for its errors
    sizes = {"item": _size(items), "rater": _size(raters)}
    generator = np.random.default_rng([seed, 1])  # of the raters, where the items' own draws are bootstrap()'s

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
    """How many clusters there are to be drawn; of ``both`` how many there are of which there are fewer.

    :raises NotComputableError: if they are fewer than two, which drawn again and again would look certain.
    :raises OptionError: for other clusters.
    """
    if clusters not in CLUSTERS:
        raise OptionError(f"clusters {clusters!r}: must be one of {', '.join(CLUSTERS)}")
    counts = {"item": len(np.unique(items)), "rater": len(np.unique(raters))}
    drawn = {name: count for name, count in counts.items() if clusters in (name, "both")}
    for name, count in drawn.items():
        if count < 2:
            raise NotComputableError(f"no interval: {count} {name}, and at least two are needed")
    return min(drawn.values())


def weighted_mean(values: Floats, weights: Floats) -> float:
    """The mean of values that count so many times.

    :raises NotComputableError: if none counts.
    """
    total = float(weights.sum())
    if not total:
        raise NotComputableError("no mean: no rating was drawn")
    return float(values @ weights) / total


def _size(numbers: Places) -> int:
    return int(numbers.max()) + 1


def _times(drawn: Places, size: int) -> Floats:
    """How often each of ``size`` clusters was drawn."""
    return np.bincount(drawn, minlength=size).astype(np.float64)
