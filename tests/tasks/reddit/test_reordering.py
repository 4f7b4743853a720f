"""Putting a stream into order."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.reddit.reordering import reordered


@given(st.lists(st.integers(0, 9)), st.integers(0, 3))
def test_short_stream_is_sorted_and_equal_keys_stay_in_order(keys: list[int], more: int) -> None:
    items = list(enumerate(keys))
    assert list(reordered(items, len(items) + more, lambda item: item[1])) == sorted(items, key=lambda item: item[1])


@given(st.integers(0, 60), st.integers(1, 9), st.randoms(use_true_random=False))
def test_items_that_are_nearby_are_put_into_place(number: int, size: int, draw: random.Random) -> None:
    """Items that are shuffled among ``size`` neighbours are less than ``size`` positions behind any larger one."""
    places = [(n // size, draw.random(), n) for n in range(number)]
    assert list(reordered((n for _, _, n in sorted(places)), size, float)) == list(range(number))


def test_longer_stream_in_the_opposite_order_loses_nothing() -> None:
    assert list(reordered(range(5, 0, -1), 2, float)) == [3, 2, 1, 4, 5]


def test_no_more_items_are_read_than_the_buffer_holds() -> None:
    read = []
    stream = reordered((read.append(n) or n for n in itertools.count()), 5, float)
    for given_so_far in range(1, 20):
        next(stream)
        assert len(read) == given_so_far + 5
