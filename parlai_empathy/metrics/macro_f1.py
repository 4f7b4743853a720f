"""Macro-F1: the mean of the classes' F1, so that a rare class counts as much as a common one.

A class's F1 is ``2 TP / (2 TP + FP + FN)``. The mean is over the classes that occur or are predicted at least once, as
in scikit-learn's ``f1_score(average="macro")``. If several things are predicted for each item, it is the mean of their
macro-F1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from parlai.core.metrics import Metric
from parlai.utils.misc import warn_once

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature


def confusion(true: ArrayLike, chosen: ArrayLike, classes: int) -> NDArray[np.int64]:
    """Return the confusion matrix.

    :param true: ``(n,)``, class indices; ``chosen``: the predicted ones.
    :returns: ``(classes, classes)``, with a row for each true class.
    """
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (np.asarray(true, dtype=int), np.asarray(chosen, dtype=int)), 1)
    return table


def macro_f1(tables: ArrayLike) -> float:
    """Return the mean of the classes' F1, 0..1.

    :param tables: from :func:`confusion`, ``(classes, classes)``; or several, ``(tables, classes, classes)``, of which
        those without counts are ignored.
    :raises NotComputableError: if there are no counts.
    """
    counts = np.asarray(tables)
    counts = counts.reshape(-1, *counts.shape[-2:])
    values = [_macro_f1(table) for table in counts if table.any()]
    if not values:
        raise NotComputableError("macro-F1: there is nothing to score: give at least one item with its true class")
    return sum(values) / len(values)


def _macro_f1(table: NDArray[np.int64]) -> float:
    right, seen = table.diagonal(), table.sum(axis=0) + table.sum(axis=1)
    return float((2 * right[seen > 0] / seen[seen > 0]).mean())


class MacroF1(Metric):
    """Macro-F1 of the predictions accumulated so far.

    :param tables: as in :func:`macro_f1`.
    :param name: what is predicted, for the signature.
    """

    __slots__ = ("name", "split", "tables")

    def __init__(self, tables: NDArray[np.int64], name: str | None = None, split: str | None = None) -> None:
        self.tables = tables
        self.name = name
        self.split = split

    def __add__(self, other: MacroF1 | None) -> MacroF1:
        if other is None:
            return self
        return MacroF1(self.tables + other.tables, self.name, self.split)

    @property
    def macro_average(self) -> bool:
        """Whether several tasks are reported as the mean of their values."""
        return True

    def value(self) -> float:
        """0..1, or NaN with a warning if there is nothing to score."""
        try:
            return macro_f1(self.tables)
        except NotComputableError as error:
            warn_once(str(error))
            return math.nan

    @property
    def signature(self) -> str:
        """How the number was computed."""
        counts = self.tables.reshape(-1, *self.tables.shape[-2:]).sum(axis=(1, 2))
        return signature("macro-F1", of=self.name, classes="present", n=int(counts.max()), split=self.split)
