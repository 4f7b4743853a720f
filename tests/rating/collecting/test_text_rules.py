"""What people may write in a collection."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting.text_rules import LONGEST, checked_situation, one_line, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw a heron", 1),
        ("I saw a heron.", 1),
        ("I saw one! It flew... Then it was gone", 3),
        ("Dr. Crane and Mr. Heron, e.g. in spring, met at 3.15 a.m. there?", 1),
        ('"Look!" she said. "There!"', 3),
        ("One. Two. Three. Four.", 4),
    ],
)
def test_sentences_are_counted(text: str, expected: int) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["", "  ", "One. Two. Three. Four.", "x" * 1001, "a\0b", "\ud800"])
def test_invalid_situation_raises_option_error(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        checked_situation(text)
    assert "\n" not in str(caught.value)


@given(words=st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=5), count=st.integers(1, 6))
def test_situation_has_at_most_three_sentences(words: list[str], count: int) -> None:
    text = " ".join(" ".join(words).capitalize() + "." for _ in range(count))
    assert sentences(text) == count
    if count <= 3:
        assert checked_situation(f" {text}\n") == text
    else:
        with pytest.raises(OptionError, match=f"it has {count} sentences"):
            checked_situation(text)


def test_one_line_joins_lines_and_limits_length() -> None:
    assert one_line(" Hello\n\tthere ", "message") == "Hello there"
    assert one_line("x" * LONGEST, "message") == "x" * LONGEST
    with pytest.raises(OptionError, match="message: it has 1,001 characters: write 1 to 1,000"):
        one_line("x" * (LONGEST + 1), "message")
