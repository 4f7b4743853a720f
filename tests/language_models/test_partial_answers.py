"""Which part of an unfinished answer can be reported."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.completion import cut_at_stop
from parlai_empathy.language_models.partial_answers import PartialAnswers, certain_part

TEXTS = st.text("ab", max_size=12)
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), max_size=3)


@pytest.mark.parametrize(
    ("text", "told"),
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
def test_what_may_begin_a_stop_text_is_held_back(text: str, told: str) -> None:
    assert certain_part(text, ("Human:",)) == told


@given(TEXTS, STOPS)
def test_it_is_the_longest_beginning_that_no_stop_text_can_reach(text: str, stop: list[str]) -> None:
    # Position by position: a stop text starts here, or would if the text continued accordingly.
    begins = (
        place
        for place in range(len(text))
        if any(text.startswith(one, place) or one.startswith(text[place:]) for one in stop)
    )
    assert certain_part(text, stop) == text[: next(begins, len(text))]


@given(TEXTS, STOPS, st.lists(st.integers(0, 12), max_size=8))
def test_what_is_told_grows_and_is_never_taken_back(text: str, stop: list[str], ends: list[int]) -> None:
    told: list[str] = []
    teller = PartialAnswers(told.append, stop)
    for end in sorted(ends):
        teller.tell(text[:end])
    final, _ = cut_at_stop(text, stop)
    assert all(final.startswith(one) for one in told)
    assert all(later.startswith(one) and later != one for one, later in pairwise(told))
    assert teller.told == (told[-1] if told else "")


def told(*texts: str) -> list[str]:
    found: list[str] = []
    teller = PartialAnswers(found.append)
    for text in texts:
        teller.tell(text)
    return found


def test_spaces_alone_and_the_same_again_are_not_told() -> None:
    assert told("", " ", " \n", " a", " a", " a b") == [" a", " a b"]


def test_half_a_character_waits_for_its_other_half() -> None:
    # A tokenizer's decoding of the first two of a character's three bytes, and the first of two UTF-16 surrogates.
    assert told("a\ufffd\ufffd", "a\u20ac", "a\u20ac\ud83d", "a\u20ac\U0001f642") == [
        "a",
        "a\u20ac",
        "a\u20ac\U0001f642",
    ]


def test_what_was_decoded_anew_is_told_once_it_fits_again() -> None:
    assert told("ab", "axx", "abc") == ["ab", "abc"]
