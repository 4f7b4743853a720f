"""How sure a number is: its values on items that are drawn anew, with replacement (Efron and Tibshirani 1993)."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def bootstrap(statistic: Callable[[Places], float], n: int, resamples: int, seed: int) -> Floats:
    """Compute a statistic on items that are drawn with replacement, again and again.

    :param statistic: given the places of the ``n`` drawn items, its value. Where it raises
        :class:`NotComputableError` the resample is left out.
    :returns: ``(usable resamples,)``
    :raises NotComputableError: if fewer than half of the resamples could be used.
    """
    if resamples < 1:
        raise OptionError(f"resamples {resamples}: must be at least 1")
    generator = np.random.default_rng(seed)
    values = []
    for _ in range(resamples):
        with suppress(NotComputableError):
            values.append(statistic(generator.integers(n, size=n)))
    if 2 * len(values) < resamples:
        raise NotComputableError(
            f"no interval: only {len(values)} of {resamples} resamples of the {n} items could be used, "
            "because in the others all values were alike: more items that differ are needed"
        )
    return np.array(values)


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The middle part of a statistic's bootstrap values that holds the share ``level`` of them."""
    if not 0 < level < 1:
        raise OptionError(f"level {level}: must lie between 0 and 1, for instance 0.95")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def expanded_interval(means: Floats, n: int, level: float = 0.95) -> tuple[float, float]:
    """A percentile interval of means that is as wide for few items as it has to be (Hesterberg 2015).

    Percentiles are too narrow by twice: the spread of drawn means is divided by n where n - 1 would be right, and they
    are as far out as the normal distribution's, not Student's. So percentiles further out are taken; of 10 items the
    most extreme .9 % at each end instead of 2.5 %. The interval never leaves the values themselves, and so is still too
    narrow for fewer than five.

    :param means: ``(resamples,)``, or differences of means.
    :param n: how many items were drawn, at least 2; of two samples those of the smaller one.
    """
    tail = stats.norm.sf(math.sqrt(n / (n - 1)) * stats.t.isf((1 - level) / 2, n - 1))
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)
