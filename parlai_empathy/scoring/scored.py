"""What one metric says of one system's replies: something of each reply, and the number that it all adds up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.number import Number
from parlai_empathy.metrics.signature import signature

Items = tuple[Any, ...]
Array = NDArray[Any]
Value = Callable[[Array], float]
Record = Callable[[Any], Any]


def mean(items: Array) -> float:
    """What most numbers are of their items."""
    return float(np.mean(items))


def itself(item: Any) -> Any:
    """What most items are for those who compute with them."""
    return item


@dataclass(frozen=True)
class Scored:
    """A number of a system, with what it was computed from, so that it can be computed again of other samples.

    :param key: what records call it, such as ``dist_2``.
    :param title: what tables call it, such as ``Dist-2``.
    :param number: the system's.
    :param items: for each reply what the number is computed from; None for a reply that has no value. Empty for a
        metric that does not say anything of single replies.
    :param value: from any number of items that are not None, as :func:`stacked` puts them together, to the number;
        raises :class:`NotComputableError` if they are too few or say too little.
    :param record: an item as a number, a text or a list; None where an item says nothing of its reply by itself.
    :param has_interval: whether replies that are drawn with replacement give numbers that lie about the system's. They
        do not where a reply that is drawn twice counts for less.
    """

    key: str
    title: str
    number: Number
    items: Items = ()
    value: Value = mean
    record: Record | None = itself
    has_interval: bool = True

    @property
    def left_out(self) -> int:
        """How many replies have no value."""
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
    """Compute a number of its items, and sign it.

    :param settings: what decided it, for the signature, which also says of how many items it is.
    :raises NotComputableError: if no item has a value, or these say too little.
    """
    known = [item for item in items if item is not None]
    if not known:
        raise NotComputableError(f"{title}: there is no reply that it can be computed of")
    text = signature(title, **settings, n=len(known), left_out=len(items) - len(known) or None)
    return Scored(key, title, Number(value(stacked(known)), text), tuple(items), value, record, has_interval)


def stacked(items: Sequence[Any]) -> Array:
    """Items that are not None as one array along the first axis: numbers, rows of one length, or else objects."""
    first = items[0]
    if not isinstance(first, np.ndarray) or all(item.shape == first.shape for item in items):
        return np.asarray(items)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
