"""Which messages are accepted, and what their writers are told about the others."""

from __future__ import annotations

import pytest

from parlai_empathy.rating.talking.messages import problem_of


@pytest.mark.parametrize("text", ["I", "ten letter", "שלום", "🙂" * 10])
def test_message_of_at_most_the_longest_length_is_accepted(text: str) -> None:
    assert problem_of(text, longest=10) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Write something first."),
        ("e" * 1001, "Write at most 1,000 characters; this is 1,001."),
        ("a\0b", "This contains a character that cannot be stored. Write it without that character."),
    ],
)
def test_writer_is_told_what_is_wrong(text: str, told: str) -> None:
    assert problem_of(text, longest=1000) == told
