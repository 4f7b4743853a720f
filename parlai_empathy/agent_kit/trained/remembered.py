"""What was once computed of a text and will not change: remembered, as much of it as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """Values by text. When it is full, it keeps what it has: the next epoch asks for the same texts in another order.

    :param most: values that there is room for.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[str, T] = {}

    def of(self, texts: Sequence[str], compute: Callable[[list[int]], Sequence[T]]) -> list[T]:
        """The texts' values.

        :param compute: makes the values of the texts at these places: all that are not known, each once, in one call.
        """
        values = {text: self._values[text] for text in texts if text in self._values}
        new = {text: place for place, text in enumerate(texts) if text not in values}
        if new:
            values.update(zip(new, compute(list(new.values())), strict=True))
        for text in new:
            if len(self._values) < self._most:
                self._values[text] = values[text]
        return [values[text] for text in texts]
