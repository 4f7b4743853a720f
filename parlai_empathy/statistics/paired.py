"""Comparison of two systems on the same items: the difference, its interval, and a randomisation test.

Interval: the items are resampled with replacement, the same ones for both systems (Efron and Tibshirani 1993). Test: if
the systems do not differ, it is irrelevant which of them gave which of an item's two replies. So replies are swapped at
random, and the p-value is the share of swaps with at least as large a difference (Noreen 1989).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import Places, bootstrap, interval_of

Array = NDArray[Any]
Value = Callable[[Array], float]


class PairedDifference(NamedTuple):
    """The difference between two systems' values, first minus second.

    :param p_value: two-sided, against no difference; above 0 and at most 1.
    :param interval: the lower and upper end of the 95 % interval; None if it was not requested, or if all resamples
        give the same difference.
    :param n: number of items that both have.
    """

    value: float
    p_value: float
    interval: tuple[float, float] | None
    n: int


def paired_difference(
    value: Value,
    first: Array,
    second: Array,
    resamples: int = 1000,
    seed: int = 0,
    with_interval: bool = True,
    swaps: int | None = None,
    of_means: bool = False,
) -> PairedDifference:
    """Compare two systems.

    :param value: computes a system's value from its items.
    :param first: ``(n, ...)``, the first system's items.
    :param second: ``(n, ...)``, the second system's, in the same order.
    :param resamples: number of bootstrap samples for the interval.
    :param with_interval: False for values that are biased on items drawn with replacement.
    :param swaps: number of random swaps for the test, by default ``resamples``. No p-value is below
        ``1 / (swaps + 1)``.
    :param of_means: whether a system's value is the mean of its items; the interval is then expanded for few of them.
    :raises NotComputableError: if there are fewer than two items, most resamples of them have no value, or a
        system's value is not finite.
    """
    if resamples < 1:
        raise OptionError(f"resamples {resamples}: must be at least 1")
    n = len(first)
    if n != len(second) or n < 2:
        raise NotComputableError(f"no comparison: {n} and {len(second)} items; at least two common ones are needed")

    def difference(places: Places) -> float:
        return of(first[places]) - of(second[places])

    of = _finite(value)
    observed = of(first) - of(second)
    interval = None
    if with_interval:
        drawn = bootstrap(difference, n, resamples, seed)
        with suppress(NotComputableError):  # all resamples are the same, which does not affect the test
            interval = interval_of(drawn, n, of_means)
    return PairedDifference(observed, _p_value(of, first, second, swaps or resamples, seed), interval, n)


def _finite(value: Value) -> Value:
    """Return the function with an error in place of NaN or infinity, which no swap would exceed."""

    def of(items: Array) -> float:
        found = value(items)
        if not math.isfinite(found):
            raise NotComputableError(f"no comparison: a system's value is {found}: leave out such items")
        return found

    return of


def _p_value(value: Value, first: Array, second: Array, swaps: int, seed: int) -> float:
    one, other = value(first), value(second)
    # Sums in a different order may differ in their last digits.
    least = abs(one - other) - 1e-12 * max(1.0, abs(one), abs(other))
    generator = np.random.default_rng(seed)
    as_large = tried = 0
    for _ in range(swaps):
        swap = generator.integers(2, size=len(first)).astype(bool)
        swap = swap.reshape(-1, *[1] * (first.ndim - 1))
        with suppress(NotComputableError):
            found = value(np.where(swap, second, first)) - value(np.where(swap, first, second))
            as_large += abs(found) >= least
            tried += 1
    return (as_large + 1) / (tried + 1)


def swaps_for(tests: int, resamples: int) -> int:
    """Return the number of random swaps for each of several tests, at least ``resamples``.

    No p-value is below 1 / (swaps + 1); with 25 swaps per test, it can still be .04 after Holm's correction.
    """
    return max(resamples, 25 * tests)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for multiple comparisons (Holm 1979), in the same order.

    The probability that any corrected p-value is below .05 by chance is at most 5 %.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected
