"""The result of one metric for one system: an item for each reply, and the number computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import Number, signature

Items = tuple[Any, ...]
Array = NDArray[Any]
Value = Callable[[Array], float]
Record = Callable[[Any], Any]


def mean(items: Array) -> float:
    """Return the mean: how most numbers are computed from their items."""
    return float(np.mean(items))


def median(items: Array) -> float:
    """Return the median, which a few extreme items do not change."""
    return float(np.median(items))


def itself(item: Any) -> Any:
    """Return the item unchanged: how most items are recorded."""
    return item


def check_finite(values: Array, model: str, to: str, what: str) -> None:
    """Check what a model gives, such as ``to`` "a reply" a "score".

    :raises NotComputableError: if a value is NaN or infinite: the model is broken.
    """
    if not np.isfinite(values).all():
        raise NotComputableError(f"{model} gives {to} no finite {what}: name another model")


@dataclass(frozen=True)
class Scored:
    """A system's number with the items that it was computed from, so that it can be recomputed on resamples.

    :param key: its key in records, such as ``dist_2``.
    :param title: its name in tables, such as ``Dist-2``.
    :param number: the system's number.
    :param items: what the number is computed from, for each reply; None for a reply without a value. Empty for a metric
        without values of single replies.
    :param value: computes the number from any number of items that are not None, as returned by :func:`stacked`; raises
        :class:`NotComputableError` if they are too few or do not determine it.
    :param record: converts an item to JSON types; None if an item on its own says nothing about its reply.
    :param has_interval: whether a bootstrap over replies is valid. It is not if a reply counts less when it is drawn
        twice, as with distinct n-grams.
    """

    key: str
    title: str
    number: Number
    items: Items = ()
    value: Value = mean
    record: Record | None = itself
    has_interval: bool = True

    @property
    def is_mean(self) -> bool:
        """Whether the number is the mean of the items."""
        return self.value is mean

    @property
    def left_out(self) -> int:
        """Number of replies without a value."""
        return sum(item is None for item in self.items)


def scored(
    key: str,
    title: str,
    items: Sequence[Any],
    settings: dict[str, Any],
    value: Value = mean,
    record: Record | None = itself,
    has_interval: bool = True,
) -> Scored:
    """Compute a number from its items, with a signature.

    :param settings: what it depends on, for the signature, to which the number of items is added.
    :raises NotComputableError: if no item has a value, or the items do not determine the number.
    """
    known = [item for item in items if item is not None]
    if not known:
        raise NotComputableError(f"{title}: it cannot be computed for any reply")
    text = signature(title, **settings, n=len(known), left_out=len(items) - len(known) or None)
    return Scored(key, title, Number(value(stacked(known)), text), tuple(items), value, record, has_interval)


def stacked(items: Sequence[Any]) -> Array:
    """Stack items that are not None along the first axis: numbers, arrays of the same shape, or else objects."""
    first = items[0]
    if not isinstance(first, np.ndarray) or all(item.shape == first.shape for item in items):
        return np.asarray(items)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
