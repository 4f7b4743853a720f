"""How well scores follow people's ratings of the same items: Pearson's, Spearman's and Kendall's correlation.

Each value comes with a bootstrap interval: items are drawn anew with replacement, each with its score and its rating,
and the correlation is computed again (Efron and Tibshirani 1993, chapters 6 and 13).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.bootstrap import Places, bootstrap, percentile_interval
from parlai_empathy.metrics.signature import signature

Floats = NDArray[np.float64]

KINDS = ("pearson", "spearman", "kendall")
"""Pearson's r, Spearman's rho (ties get their mean rank) and Kendall's tau-b (corrected for ties)."""

_COEFFICIENTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
_FEWEST = 3


class Correlation(NamedTuple):
    """A correlation and how sure it is.

    :param value: -1..1
    :param p_value: of no correlation at all, two-sided, by the coefficient's own test as SciPy has it.
    :param low: the lower end of the bootstrap interval.
    :param high: its upper end.
    :param n: how many items there were.
    :param signature: what decided these numbers.
    """

    value: float
    p_value: float
    low: float
    high: float
    n: int
    signature: str


def correlation(
    kind: str,
    scores: Sequence[float],
    ratings: Sequence[float],
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Correlation:
    """Correlate scores with ratings, item by item.

    :param kind: one of :data:`KINDS`.
    :param scores: ``(n,)``
    :param ratings: ``(n,)``, in the same order.
    :param resamples: how often the items are drawn anew for the interval.
    :param level: the share of resamples that the interval holds, between 0 and 1.
    :raises NotComputableError: for fewer than three items, different lengths, a number that is not finite, or a side
        that has one value only.
    :raises OptionError: for another kind, number of resamples or level.
    """
    x, y = _columns(scores=scores, ratings=ratings)

    def value_of(drawn: Places) -> float:
        return _compute(kind, scores=x[drawn], ratings=y[drawn])[0]

    value, p_value = _compute(kind, scores=x, ratings=y)
    low, high = percentile_interval(bootstrap(value_of, len(x), resamples, seed), level)
    return Correlation(value, p_value, low, high, len(x), _signature(kind, len(x), resamples, seed, level))


def coefficient(kind: str, scores: Sequence[float], ratings: Sequence[float]) -> float:
    """The correlation alone. Parameters and errors are those of :func:`correlation`."""
    x, y = _columns(scores=scores, ratings=ratings)
    return _compute(kind, scores=x, ratings=y)[0]


def _compute(kind: str, **columns: Floats) -> tuple[float, float]:
    """The correlation of two columns, whose names are for errors, and its p-value."""
    if kind not in KINDS:
        raise OptionError(f"kind {kind!r}: must be one of {', '.join(KINDS)}")
    for name, column in columns.items():
        if (column == column[0]).all():
            raise NotComputableError(f"no correlation: all {len(column)} {name} are {column[0]:g}")
    value, p_value = _COEFFICIENTS[kind](*columns.values())
    if math.isnan(value):
        raise NotComputableError(f"no correlation: {' or '.join(columns)} are too large to compute with: divide them")
    return float(value), float(p_value)


def _columns(**columns: Sequence[float]) -> list[Floats]:
    """The columns as arrays, once they are known to belong together and to hold numbers."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise NotComputableError(f"no correlation of {counts}: each item needs one of each")
    n = min(lengths.values())
    if n < _FEWEST:
        raise NotComputableError(f"no correlation of {n} items: at least {_FEWEST} are needed")
    for name, column in columns.items():
        for place, number in enumerate(column):
            if number is None or not math.isfinite(number):
                raise NotComputableError(f"{name}[{place}] is {number}: leave out items without a finite number")
    return [np.asarray(column, dtype=np.float64) for column in columns.values()]


def _signature(name: str, n: int, resamples: int, seed: int, level: float) -> str:
    return signature(name, n=n, interval=f"{100 * level:g}%", resamples=resamples, seed=seed)
