"""How sure a number is: its values on items that are drawn anew, with replacement (Efron and Tibshirani 1993)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

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
