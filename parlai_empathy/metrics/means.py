"""Means over a whole fold, and numbers made of them at its end: a mean of the batches' would depend on their size."""

from __future__ import annotations

from copy import copy
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from parlai.core.metrics import Metric

_Self = TypeVar("_Self", bound="Means")


class Means(Metric):
    """Several means over what was accumulated so far. Subclasses compute a number from them.

    :param totals: ``(means,)``; ``counts``: ``(means,)``, how many numbers each total is the sum of.
    """

    __slots__ = ("counts", "totals")

    def __init__(self, totals: ArrayLike, counts: ArrayLike) -> None:
        self.totals = np.asarray(totals, dtype=float)
        self.counts = np.asarray(counts)

    def __add__(self: _Self, other: _Self | None) -> _Self:
        if other is None:
            return self
        both = copy(self)
        both.totals, both.counts = self.totals + other.totals, self.counts + other.counts
        return both

    @property
    def macro_average(self) -> bool:
        """Whether several tasks are reported as the mean of their values."""
        return True

    @property
    def means(self) -> NDArray[np.float64]:
        """``(means,)``; 0 for a mean of nothing."""
        means: NDArray[np.float64] = self.totals / self.counts.clip(min=1)
        return means


class SumOfMeans(Means):
    """The sum of several means."""

    __slots__ = ()

    def value(self) -> float:
        """The sum."""
        return float(self.means.sum())
