"""The ways to split replies into tokens."""

from __future__ import annotations

from parlai_empathy.metrics.tokens import TOKENS


def test_re_splits_off_punctuation_and_space_does_not() -> None:
    text = "Oh no, I'm  so sorry!"
    assert TOKENS["re"](text) == ["Oh", "no", ",", "I", "'", "m", "so", "sorry", "!"]
    assert TOKENS["space"](text) == ["Oh", "no,", "I'm", "so", "sorry!"]


def test_blank_text_has_no_tokens() -> None:
    assert [cut(" ") for cut in TOKENS.values()] == [[], []]


def test_line_breaks_are_no_tokens() -> None:
    assert [cut("So\n\nsorry \r\n !") for cut in TOKENS.values()] == [["So", "sorry", "!"]] * 2
