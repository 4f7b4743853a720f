"""Which part of an unfinished answer can be reported."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.completion import Completion, answer_of, cut_at_stop
from parlai_empathy.language_models.partial_answers import PartialAnswers, final_prefix

TEXTS = st.text("ab", max_size=12)
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("I see. ", "I see. "),
        ("I see. H", "I see. "),
        ("I see. Human", "I see. "),
        ("I see. Human:", "I see. "),
        ("I see. Human: and", "I see. "),
        ("I see. Humans", "I see. Humans"),
        ("HHu", "H"),
    ],
)
def test_possible_start_of_stop_text_is_held_back(text: str, reported: str) -> None:
    assert final_prefix(text, ("Human:",)) == reported


@given(TEXTS, STOPS)
def test_final_prefix_is_longest_prefix_free_of_possible_stop_texts(text: str, stop: list[str]) -> None:
    # Position by position: a stop text starts here, or would if the text continued accordingly.
    begins = (
        place
        for place in range(len(text))
        if any(text.startswith(one, place) or one.startswith(text[place:]) for one in stop)
    )
    assert final_prefix(text, stop) == text[: next(begins, len(text))]


@given(TEXTS, STOPS, st.lists(st.integers(0, 12), max_size=8))
def test_reported_texts_only_grow_and_prefix_the_final_answer(text: str, stop: list[str], ends: list[int]) -> None:
    reported: list[str] = []
    partial = PartialAnswers(reported.append, stop)
    for end in sorted(ends):
        partial.report(text[:end])
    final, _ = cut_at_stop(text, stop)
    assert all(final.startswith(one) for one in reported)
    assert all(later.startswith(one) and later != one for one, later in pairwise(reported))
    assert partial.reported == (reported[-1] if reported else "")


def reported(*texts: str) -> list[str]:
    found: list[str] = []
    partial = PartialAnswers(found.append)
    for text in texts:
        partial.report(text)
    return found


def test_whitespace_and_repeated_texts_are_not_reported() -> None:
    assert reported("", " ", " \n", " a", " a", " a b") == [" a", " a b"]


def test_incomplete_characters_are_held_back() -> None:
    # A tokenizer's decoding of the first two of a character's three bytes, and the first of two UTF-16 surrogates.
    assert reported("a\ufffd\ufffd", "a\u20ac", "a\u20ac\ud83d", "a\u20ac\U0001f642") == [
        "a",
        "a\u20ac",
        "a\u20ac\U0001f642",
    ]


def test_unreadable_character_before_a_line_break_is_reported() -> None:
    assert reported("a\ufffd", "a\ufffd\n", "a\ufffd\nb") == ["a", "a\ufffd\n", "a\ufffd\nb"]


def test_lone_halves_of_characters_are_reported_as_in_the_final_answer() -> None:
    final = answer_of("a\ud83d b\udc00", (), "stop", 1, 1)
    assert isinstance(final, Completion)
    assert reported("a\ud83d", "a\ud83d b\udc00") == ["a", final.text] == ["a", "a? b?"]


def test_thoughts_are_not_reported() -> None:
    texts = ("<thi", "<think>\nSad", "<think>\nSad.</think", "<think>\nSad.</think>\n", "<think>\nSad.</think>\nI see")
    assert reported(*texts) == ["I see"]
    assert reported("<", "<3", "<3 you") == ["<3", "<3 you"]


def test_changed_decoding_is_reported_once_it_extends_earlier_text() -> None:
    assert reported("ab", "axx", "abc") == ["ab", "abc"]
