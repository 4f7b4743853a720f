"""Shuffling a stream."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.reddit.shuffling import shuffled


@given(st.integers(0, 60), st.integers(1, 70), st.integers())
def test_items_appear_once_and_less_than_a_buffer_early(number: int, size: int, seed: int) -> None:
    found = list(shuffled(range(number), size, random.Random(seed)))
    assert sorted(found) == list(range(number))
    assert all(item < place + size for place, item in enumerate(found))


def test_order_depends_on_the_seed() -> None:
    first, second, other = (list(shuffled(range(100), 20, random.Random(seed))) for seed in (1, 1, 2))
    assert first == second
    assert first != other
    assert first != sorted(first)


@pytest.mark.parametrize("size", [3, 50])
def test_all_orders_within_the_buffer_are_equally_likely(size: int) -> None:
    orders = [tuple(shuffled(range(3), size, random.Random(seed))) for seed in range(6_000)]
    # 1,000 of each of 6 orders are expected, with a standard deviation of 29
    assert all(abs(orders.count(order) - 1_000) < 150 for order in itertools.permutations(range(3)))


def test_no_more_items_are_read_than_the_buffer_holds() -> None:
    read = []
    stream = shuffled((read.append(n) or n for n in itertools.count()), 5, random.Random(1))
    for given_so_far in range(1, 20):
        next(stream)
        assert len(read) == given_so_far + 5
