"""The ways to split replies into tokens."""

from __future__ import annotations

from parlai_empathy.scoring.tokens import TOKENS


def test_words_and_marks_apart_or_split_at_spaces() -> None:
    text = "Oh no, I'm  so sorry!"
    assert TOKENS["re"](text) == ["Oh", "no", ",", "I", "'", "m", "so", "sorry", "!"]
    assert TOKENS["space"](text) == ["Oh", "no,", "I'm", "so", "sorry!"]


def test_of_nothing_there_are_none() -> None:
    assert [cut(" ") for cut in TOKENS.values()] == [[], []]
