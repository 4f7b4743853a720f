"""Shuffle a stream that does not fit into memory."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")


def shuffled(items: Iterable[_T], size: int, draw: random.Random) -> Iterator[_T]:
    """Yield each item once: a buffer of ``size`` is filled, then each new item replaces a random one, which is yielded.

    So no item comes ``size`` positions early or more, but it may come any number of positions late.
    """
    buffer: list[_T] = []
    for item in items:
        if len(buffer) < size:
            buffer.append(item)
            continue
        place = draw.randrange(size)
        yield buffer[place]
        buffer[place] = item
    draw.shuffle(buffer)
    yield from buffer
