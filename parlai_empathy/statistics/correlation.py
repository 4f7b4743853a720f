"""Pearson's, Spearman's and Kendall's correlation of scores with people's ratings of the same items.

Each value has a bootstrap interval: items are resampled with replacement, each with its score and its rating, and the
correlation is recomputed (Efron and Tibshirani 1993, chapters 6 and 13).

For few items, the p-values of Spearman's and Kendall's correlation are exact, ties included. The t distribution, which
approximates Spearman's for many items, would give a perfect order of three a p-value of 0; by chance it is 1 in 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.signature import signature
from parlai_empathy.statistics.bootstrap import Floats, bootstrap, interval_of
from parlai_empathy.statistics.finite import finite_columns

KINDS = ("pearson", "spearman", "kendall")
"""Pearson's r, Spearman's rho (ties get their mean rank) and Kendall's tau-b (corrected for ties)."""

_COEFFICIENTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
_FEWEST = 3
_MOST_COUNTED = 9
"""Maximum number of items for which a p-value is computed from all orders; for one more, there are millions."""
_MOST_UNTIED = 33
"""Maximum number of items without ties for which SciPy computes Kendall's exact p-value."""


class Correlation(NamedTuple):
    """A correlation with its confidence interval.

    :param value: -1..1
    :param p_value: two-sided, against no correlation. The signature says how it was computed: ``p:exact``, the share of
        all orders of the items that correlate at least as strongly; ``p:t``, by the t distribution; ``p:normal``, by
        the normal distribution.
    :param low: the lower end of the bootstrap interval; None if all resamples give the same value, as for a perfect
        correlation: an interval without width would make it look certain.
    :param high: its upper end; None likewise.
    :param n: number of items.
    :param signature: how these numbers were computed.
    """

    value: float
    p_value: float
    low: float | None
    high: float | None
    n: int
    signature: str

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def span(self) -> tuple[float, float, float]:
        """The value and both ends, for a plot: without an interval they are the value itself."""
        return (self.value, *(self.interval or (self.value, self.value)))


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
    :param resamples: number of bootstrap samples for the interval.
    :param level: the share of resamples that the interval contains, between 0 and 1.
    :raises NotComputableError: for fewer than three items, different lengths, a number that is not finite, or a
        constant side.
    :raises OptionError: for an invalid kind, number of resamples or level.
    """
    x, y = _columns(scores=scores, ratings=ratings)
    value = _value(kind, x, y)
    p_value, p = _p_value(kind, x, y)
    drawn = bootstrap(lambda places: _value(kind, x[places], y[places]), len(x), resamples, seed)
    low, high = _interval(drawn, len(x), level)
    made = signature(kind, n=len(x), p=p, interval=f"{100 * level:g}%", resamples=resamples, seed=seed)
    return Correlation(value, p_value, low, high, len(x), made)


def _interval(drawn: Floats, n: int, level: float) -> tuple[float, float] | tuple[None, None]:
    try:
        return interval_of(drawn, n, of_means=False, level=level)
    except NotComputableError:
        return None, None


def coefficient(kind: str, scores: Sequence[float], ratings: Sequence[float]) -> float:
    """Return only the correlation's value. Parameters and errors are those of :func:`correlation`."""
    return _value(kind, *_columns(scores=scores, ratings=ratings))


def _value(kind: str, scores: Floats, ratings: Floats) -> float:
    if kind not in KINDS:
        raise OptionError(f"kind {kind!r}: must be one of {', '.join(KINDS)}")
    for name, column in (("scores", scores), ("ratings", ratings)):
        if (column == column[0]).all():
            raise NotComputableError(f"no correlation: all {len(column)} {name} are {column[0]:g}")
    value = float(_COEFFICIENTS[kind](scores, ratings).statistic)
    if math.isnan(value):
        raise NotComputableError("no correlation: scores or ratings are too large to compute with: rescale them")
    return value


def _p_value(kind: str, scores: Floats, ratings: Floats) -> tuple[float, str]:
    """Return the p-value against no correlation, and how it was computed."""
    n = len(scores)
    if kind == "pearson":
        return float(stats.pearsonr(scores, ratings).pvalue), "t"
    if n <= _MOST_COUNTED:
        return _share_of_orders(kind, scores, ratings), "exact"
    if kind == "spearman":
        return float(stats.spearmanr(scores, ratings).pvalue), "t"
    untied = len(np.unique(scores)) == len(np.unique(ratings)) == n
    method = "exact" if untied and n <= _MOST_UNTIED else "asymptotic"
    return float(stats.kendalltau(scores, ratings, method=method).pvalue), "exact" if method == "exact" else "normal"


def _share_of_orders(kind: str, scores: Floats, ratings: Floats) -> float:
    """Return the share of all orders of the ratings that correlate at least as strongly with the scores.

    Both coefficients are sums over pairs of items, of the product of the pair's differences in the two columns
    (Daniels 1944): for Spearman's the differences in rank, for Kendall's their signs. The sums' divisor is the same for
    all orders.
    """
    ranks = (np.rint(2 * stats.rankdata(column)).astype(int) for column in (scores, ratings))  # tied ranks: halves
    one, other = (np.subtract.outer(column, column) for column in ranks)
    if kind == "kendall":
        one, other = np.sign(one), np.sign(other)
    orders = _orders(len(scores))
    sums = sum(one[i, j] * other[orders[i], orders[j]] for i, j in combinations(range(len(scores)), 2))
    strengths = np.abs(sums)
    return float((strengths >= strengths[0]).mean())  # the first order is the observed one


@cache
def _orders(n: int) -> NDArray[np.int8]:
    """Return all permutations of the numbers below n, ``(n, n!)``; the first is the identity."""
    return np.ascontiguousarray(np.array(list(permutations(range(n))), dtype=np.int8).T)


def _columns(**columns: Sequence[float]) -> list[Floats]:
    """Return the columns as arrays; an error if their lengths differ, or a number is not finite."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise NotComputableError(f"no correlation for {counts}: each item needs one of each")
    n = min(lengths.values())
    if n < _FEWEST:
        raise NotComputableError(f"no correlation for {n} items: at least {_FEWEST} are needed")
    return finite_columns(**columns)
