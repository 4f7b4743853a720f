"""Bootstrap intervals: a statistic's values on items resampled with replacement (Efron and Tibshirani 1993)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def bootstrap(statistic: Callable[[Places], float], n: int, resamples: int, seed: int) -> Floats:
    """Compute a statistic on each of many resamples of the items, drawn with replacement.

    :param statistic: maps the indices of the ``n`` drawn items to a value. If it raises :class:`NotComputableError`,
        the resample is left out.
    :param resamples: how many to draw, at least 1.
    :returns: ``(usable resamples,)``
    :raises OptionError: if ``resamples`` is below 1.
    :raises NotComputableError: if fewer than half of the resamples are usable.
    """
    if resamples < 1:
        raise OptionError(f"resamples {resamples}: must be at least 1")
    generator = np.random.default_rng(seed)
    values, reason = [], ""
    for _ in range(resamples):
        try:
            values.append(statistic(generator.integers(n, size=n)))
        except NotComputableError as error:
            reason = str(error)
    if 2 * len(values) < resamples:
        raise NotComputableError(
            f"no interval: only {len(values)} of {resamples} resamples could be used (of another: {reason}): more data "
            "are needed"
        )
    return np.array(values)


def interval_of(values: Floats, n: int, of_means: bool, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a statistic: expanded for means, percentiles for any other.

    :param values: ``(resamples,)``, its bootstrap values.
    :param n: number of items drawn, at least 2; for two samples, the size of the smaller one.
    :param of_means: whether they are means of the drawn items, or differences of means.
    :param level: the share that it contains, between 0 and 1.
    :raises NotComputableError: if all values are equal: an interval without width would make the statistic look
        certain.
    """
    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):  # sums may differ in their last digits
        raise NotComputableError(f"no interval: all resamples give {values[0]:g}: values that differ are needed")
    return expanded_interval(values, n, level) if of_means else percentile_interval(values, level)


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the ends of the central interval that contains the share ``level`` of a statistic's bootstrap values.

    :param values: ``(resamples,)``
    :param level: between 0 and 1.
    :raises OptionError: if ``level`` is not.
    """
    if not 0 < level < 1:
        raise OptionError(f"level {level}: must lie between 0 and 1, for instance 0.95")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def expanded_interval(means: Floats, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return a percentile interval of means, expanded to be wide enough for few items (Hesterberg 2015).

    Percentile intervals are too narrow for two reasons: the variance of resampled means is divided by n instead of
    n - 1, and the quantiles correspond to the normal distribution instead of Student's t. So percentiles further out
    are used: for 10 items, the most extreme .9 % at each end instead of 2.5 %. The interval stays within the range of
    the data, and so is still too narrow for fewer than five items.

    :param means: ``(resamples,)``, or differences of means.
    :param n: number of items drawn, at least 2; for two samples, the size of the smaller one.
    """
    tail = stats.norm.sf(math.sqrt(n / (n - 1)) * stats.t.isf((1 - level) / 2, n - 1))
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)
