"""The correlations of several training runs of one model with people's ratings: mean, best, and spread.

The interval is for the mean. In each resample the items are drawn anew, the same ones for all runs, and the mean is
recomputed: it covers the mean of these runs on other items, not what other runs would give. The spread of the runs is
their standard deviation. For a single run this is :func:`parlai_empathy.statistics.correlation.correlation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature
from parlai_empathy.statistics.bootstrap import Places, bootstrap, percentile_interval
from parlai_empathy.statistics.correlation import coefficient


class RunsCorrelation(NamedTuple):
    """The correlations of several runs.

    :param values: one per run, -1..1.
    :param low: the lower end of the mean's bootstrap interval.
    :param high: its upper end.
    :param n: number of items.
    :param signature: how these numbers were computed.
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
        """The standard deviation of the runs (with divisor n - 1); None for a single run."""
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

    :param kind: one of :data:`parlai_empathy.statistics.correlation.KINDS`.
    :param runs: ``(runs, n)``, at least one.
    :param ratings: ``(n,)``, in the same order.
    :param resamples: number of bootstrap samples for the interval.
    :param level: the share of resamples that the interval contains, between 0 and 1.
    :param about: name of the set of items, for the signature.
    :raises NotComputableError: if there are no runs, or the correlation of one cannot be computed.
    """
    if not len(runs):
        raise NotComputableError("no correlation: there are no runs; give the scores of at least one")
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
