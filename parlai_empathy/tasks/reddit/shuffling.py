"""A random order of a stream that does not fit into memory."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")


def shuffled(items: Iterable[_T], size: int, draw: random.Random) -> Iterator[_T]:
    """The items, each once: a buffer of ``size`` is filled, and each further one takes the place of one that is given.

    So none comes more than ``size`` places too early; how late it may come has no bound, and is ``size`` on average.
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
