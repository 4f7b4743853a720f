"""How well several trainings of one model follow people's ratings: their mean correlation, the best, and the spread.

One interval is for the mean. In each of its resamples the items are drawn anew, the same ones for all runs, and the
mean is computed again: it says how sure the mean of these runs is on other items, not what other runs would give. Their
spread is the standard deviation. Of a single run this is :func:`parlai_empathy.metrics.correlation.correlation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.bootstrap import Places, bootstrap, percentile_interval
from parlai_empathy.metrics.correlation import coefficient
from parlai_empathy.metrics.signature import signature


class RunsCorrelation(NamedTuple):
    """The correlations of some runs.

    :param values: each run's, -1..1.
    :param low: the lower end of the mean's bootstrap interval.
    :param high: its upper end.
    :param n: how many items there were.
    :param signature: what decided these numbers.
    """

    values: tuple[float, ...]
    low: float
    high: float
    n: int
    signature: str

    @property
    def mean(self) -> float:
        """The mean of the runs, -1..1."""
        return fmean(self.values)

    @property
    def best(self) -> float:
        """The highest of the runs."""
        return max(self.values)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the runs (n - 1 below the line); None of a single one."""
        return stdev(self.values) if len(self.values) > 1 else None


def correlation_of_runs(
    kind: str,
    runs: Sequence[Sequence[float]],
    ratings: Sequence[float],
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    about: str | None = None,
) -> RunsCorrelation:
    """Correlate each run's scores with the ratings.

    :param kind: of :data:`parlai_empathy.metrics.correlation.KINDS`.
    :param runs: ``(runs, n)``, at least one.
    :param ratings: ``(n,)``, in the same order.
    :param resamples: how often the items are drawn anew for the interval.
    :param level: the share of resamples that the interval holds, between 0 and 1.
    :param about: which items these are, for the signature.
    :raises NotComputableError: if there is no run, or for one of them no correlation.
    """
    if not len(runs):
        raise NotComputableError("no correlation of no run: give the scores of at least one")
    values = tuple(coefficient(kind, list(scores), ratings) for scores in runs)
    columns, people = np.asarray(runs, dtype=np.float64), np.asarray(ratings, dtype=np.float64)

    def mean_of(drawn: Places) -> float:
        return fmean(coefficient(kind, column[drawn].tolist(), people[drawn].tolist()) for column in columns)

    low, high = percentile_interval(bootstrap(mean_of, len(people), resamples, seed), level)
    text = signature(
        kind,
        set=about,
        n=len(people),
        runs=len(values),
        interval=f"{100 * level:g}%",
        resamples=resamples,
        seed=seed,
    )
    return RunsCorrelation(values, low, high, len(people), text)
