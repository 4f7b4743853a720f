"""Put a stream into order that is nearly in order, or in the opposite order and short."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")


def reordered(items: Iterable[_T], size: int, key: Callable[[_T], float]) -> Iterator[_T]:
    """Yield each item once: a buffer of ``size`` is filled, then with each new item the least one is yielded.

    So an item that comes less than ``size`` positions behind all larger ones is put into its place, and a stream of at
    most ``size`` items is sorted. Items with the same key stay in their order.
    """
    heap: list[tuple[float, int, _T]] = []
    for number, item in enumerate(items):
        entry = (key(item), number, item)  # the number decides between equal keys: items need not be comparable
        if len(heap) < size:
            heapq.heappush(heap, entry)
        else:
            yield heapq.heappushpop(heap, entry)[2]
    heap.sort()
    yield from (item for _, _, item in heap)
