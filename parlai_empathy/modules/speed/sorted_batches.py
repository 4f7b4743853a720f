"""Batches of texts of similar length, so that there is little padding, with a progress bar if there are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tqdm import tqdm

_WORTH_A_BAR = 20  # number of batches from which a progress bar is shown


def sorted_batches(keys: Sequence[Any], size: int, what: str) -> Iterator[list[int]]:
    """Yield the indices of the items, sorted by their keys, in batches; items with equal keys stay in order.

    :param keys: what to sort by: the length of each item, or tuples that begin with it.
    :param size: items per batch, at least 1; the last batch may be smaller.
    :param what: what the progress bar says is being done.
    """
    order = sorted(range(len(keys)), key=keys.__getitem__)
    starts = range(0, len(order), size)
    for start in tqdm(starts, desc=what, disable=len(starts) < _WORTH_A_BAR):
        yield order[start : start + size]
