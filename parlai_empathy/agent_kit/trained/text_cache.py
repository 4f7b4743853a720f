"""A bounded cache of values computed from texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class TextCache(Generic[T]):
    """Values by text. A full cache keeps its entries: each epoch requests the same texts, in another order.

    :param most: maximum number of values.
    """

    def __init__(self, most: int) -> None:
        self._limit = most
        self._values: dict[str, T] = {}

    def of(self, texts: Sequence[str], compute: Callable[[list[int]], Sequence[T]]) -> list[T]:
        """Return the texts' values.

        :param compute: returns the values of the texts at the given indices; it is called once, for all distinct texts
            that are not cached.
        """
        values = {text: self._values[text] for text in texts if text in self._values}
        new = {text: place for place, text in enumerate(texts) if text not in values}
        if new:
            values.update(zip(new, compute(list(new.values())), strict=True))
        for text in new:
            if len(self._values) < self._limit:
                self._values[text] = values[text]
        return [values[text] for text in texts]
