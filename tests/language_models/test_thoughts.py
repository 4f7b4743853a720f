"""Where a reasoning model's thoughts end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.thoughts import without_thoughts


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>She is sad.\n\nI console her.</think>\n\nI am sorry.", "I am sorry."),
        ("\n<think>\n\n</think>\nOh no!", "Oh no!"),
        ("She is sad.</think> I am sorry.", "I am sorry."),  # the chat template wrote the opening tag
        ("<think>She is sad.</think>", ""),
        ("<think>She is", None),
        ("<think>She is sad.</thin", None),
        (" <thi", None),
        ("<", None),
        ("<3", "<3"),
        ("I <think> so.", "I <think> so."),
        (" I see. ", " I see. "),
        (" ", " "),
        ("", ""),
    ],
)
def test_answer_begins_after_the_thoughts(text: str, answer: str | None) -> None:
    assert without_thoughts(text) == answer


@given(st.lists(st.sampled_from(["<", "think", "</think>", " ", "a"]), max_size=9).map("".join), st.booleans())
def test_answer_only_grows_with_the_text_unless_that_begins_within_thoughts(text: str, opened: bool) -> None:
    text = f"<think>{text}" if opened else text.replace("/", "")
    found = [without_thoughts(text[:end]) or "" for end in range(len(text) + 1)]
    assert all(later.startswith(one) for one, later in pairwise(found) if one.strip())
