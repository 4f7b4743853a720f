"""The window of the latest posts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.reddit.window import Turn, Window


def turn(position: int, parent: str | None = None, flaw: str | None = None) -> Turn:
    return Turn(position, parent, f"text {position}", flaw, 1)


@given(st.integers(1, 6), st.lists(st.integers(1, 4), max_size=30))
def test_window_holds_posts_of_the_last_positions(size: int, steps: list[int]) -> None:
    """Steps of more than one stand for posts of other folds, which count but are not stored."""
    window, position, kept = Window(size), 0, []
    for step in steps:
        position += step
        window.move_to(position)
        expected = [known for known in kept if known >= position - size]
        assert [known for known in kept if f"t1_{known}" in window] == expected
        assert len(window) == len(expected)
        window.add(f"t1_{position}", turn(position))
        kept.append(position)


def test_get_returns_none_for_unknown_and_expired_posts() -> None:
    window = Window(2)
    assert window.get(None) is None
    assert window.get("t1_a") is None
    window.add("t1_a", turn(1))
    assert window.get("t1_a") == turn(1)
    window.move_to(3)
    assert window.get("t1_a") == turn(1)
    window.move_to(4)
    assert window.get("t1_a") is None


@pytest.mark.parametrize(("flawed", "expected"), [(None, [3, 2, 1]), (1, [3, 2]), (2, [3]), (3, [])])
def test_turns_up_to_stops_at_a_flawed_turn(flawed: int | None, expected: list[int]) -> None:
    window = Window(10)
    for position, parent in ((1, None), (2, "p1"), (3, "p2")):
        window.add(f"p{position}", turn(position, parent, "bot" if position == flawed else None))
    last = window.get("p3")
    assert last
    assert [found.position for found in window.turns_up_to(last)] == expected


def test_turns_up_to_stops_at_cycles() -> None:
    window = Window(10)
    window.add("a", turn(1, "b"))
    window.add("b", turn(2, "a"))
    window.add("c", turn(3, "c"))
    for name, expected in (("a", [1]), ("b", [2, 1]), ("c", [3])):
        start = window.get(name)
        assert start
        assert [found.position for found in window.turns_up_to(start)] == expected
