"""Batches of items sorted by length, and their progress bar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.modules.speed.sorted_batches import sorted_batches


@given(st.lists(st.integers(0, 9), max_size=50), st.integers(1, 8))
def test_every_item_is_in_one_batch_and_shorter_ones_come_first(lengths: list[int], size: int) -> None:
    batches = list(sorted_batches(lengths, size, "reading"))
    places = [place for batch in batches for place in batch]
    assert sorted(places) == list(range(len(lengths)))
    assert [lengths[place] for place in places] == sorted(lengths)
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    assert all(1 <= len(batch) <= size for batch in batches[-1:])


def test_items_of_equal_length_stay_in_order() -> None:
    assert list(sorted_batches([2, 1, 2, 1, 2], 2, "reading")) == [[1, 3], [0, 2], [4]]


def test_keys_may_be_a_length_and_a_text() -> None:
    assert list(sorted_batches([(2, "no"), (1, "x"), (2, "ha"), (2, "no")], 2, "reading")) == [[1, 2], [0, 3]]


@pytest.mark.parametrize(("items", "is_shown"), [(57, False), (58, True)])  # 19 and 20 batches of three
def test_bar_is_shown_from_twenty_batches_on(items: int, is_shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    list(sorted_batches(range(items), 3, "reading"))
    assert ("reading: 100%" in capsys.readouterr().err) is is_shown
