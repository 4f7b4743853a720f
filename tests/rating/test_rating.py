"""A rating, and the same rating with its two systems swapped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.rating import PREFERENCES, Rating

systems = st.sampled_from(["A", "B", "C"])


def test_unit_ignores_system_order() -> None:
    assert Rating("1", "Ann", "q", 1.0, "A", "B").unit == Rating("1", "Bob", "q", 1.0, "B", "A").unit
    assert Rating("1", "Ann", "q", 1.0, "A").unit != Rating("1", "Ann", "q", 1.0, "B").unit
    assert Rating("1", "Ann", "q", 1.0, "A").unit != Rating("1", "Ann", "q", 1.0, "A", study="two").unit
    assert Rating("1", "Ann", "q", 1.0, "A").unit != Rating("1", "Ann", "q", 1.0, "A", version="v2").unit


def test_turns_of_a_conversation_are_units_of_one_place() -> None:
    first, second = (Rating("chat-1", "Ann", "q", 1.0, "A", turn=turn) for turn in ("2", "4"))
    assert first.unit != second.unit
    assert first.place == second.place == Rating("chat-1", "Ann", "whole", 1.0, "A").place
    assert (first.name, Rating("chat-1", "Ann", "q", 1.0).name) == ("chat-1#2", "chat-1")


def test_place_ignores_system_but_not_version() -> None:
    one = Rating("1", "Ann", "q", 1.0, "A", study="s", version="v")
    assert one.place == Rating("1", "Bob", "q", 2.0, "B", study="s", version="v").place
    assert one.place != Rating("1", "Ann", "q", 1.0, "A", study="s", version="w").place


@given(systems, systems, st.sampled_from(PREFERENCES), st.sampled_from(["", "left", "right"]))
def test_oriented_preserves_meaning(system: str, other: str, value: float, side: str) -> None:
    one = Rating("1", "Ann", "q", value, system, other, side=side)
    turned = one.oriented()
    assert (turned.system, turned.other) == tuple(sorted((system, other)))
    assert turned.unit == one.unit
    assert turned.oriented() == turned
    better = {1.0: one.system, -1.0: one.other, 0.0: ""}[value]
    assert {1.0: turned.system, -1.0: turned.other, 0.0: ""}[turned.rating or 0.0] == better
    where = {"left": one.system, "right": one.other, "": None}[side]
    assert {"left": turned.system, "right": turned.other, "": None}[turned.side] == where


@pytest.mark.parametrize(
    ("other", "kind", "expected"),
    [("", "", False), ("B", "", True), ("B", "preference", True), ("B", "likert", False), ("B", "choice", False)],
)
def test_preference_is_recognized_by_kind_and_other_system(other: str, kind: str, expected: bool) -> None:
    assert Rating("1", "Ann", "q", 1.0, "A", other, kind=kind).is_preference is expected


def test_oriented_keeps_value_of_non_preference_rating() -> None:
    turned = Rating("1", "Ann", "q", 4.0, "B", "A", kind="likert", check=5.0).oriented()
    assert (turned.system, turned.rating, turned.check) == ("A", 4.0, 5.0)
    assert Rating("1", "Ann", "q", None, "B", "A", text="x").oriented().rating is None
