"""Words that say something: counted by hand, and against a slower way to the same number."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from parlai_empathy.metrics.specificity import common_words, content_words, specificity, stop_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the, on, of, to, it and is are stop words, with a mark behind them too
        ("The cat on the roof of Rome!", ["cat", "roof", "rome!"]),
        ('"Is it to be?"', ['be?"']),  # of two marks behind a word no more is known
        ("(Is it to be?)", ["be?)"]),
        ("Is it to be?", []),
        ("", []),
        ("?  ... !", []),
        # what stands between spaces is one word, whatever is in it
        ("I don't know\tRome's cats\n", ["don't", "know", "rome's", "cats"]),
        # each as often as it stands, capitals or not
        ("Cats, cats, CATS", ["cats,", "cats,", "cats"]),
        ("Zürich 2022", ["zürich", "2022"]),
    ],
)
def test_by_hand(text: str, expected: list[str]) -> None:
    assert content_words(text) == expected
    assert specificity(text) == len(expected)


def test_the_stop_words_are_scikit_learns() -> None:
    assert stop_words() == CountVectorizer(stop_words="english").get_stop_words()
    assert len(stop_words()) == 318
    assert stop_words() < common_words()


def says_nothing(word: str) -> bool:
    """Whether a stop word, or nothing, is left of a word without one of the marks before it and one behind it."""
    starts = [word, *(word[1:] for mark in '("*' if word.startswith(mark))]
    ends = [start.removesuffix(mark) for start in starts for mark in ("", *'.,!?;:)"*', "...") if start.endswith(mark)]
    return any(not rest or rest in stop_words() for rest in ends)


@given(st.text(alphabet='abTHEof?.,"*()! \n', max_size=60))
def test_taking_marks_away_finds_the_same(text: str) -> None:
    expected = [word for word in re.split(r"[ \t\n\r]", text.lower()) if not says_nothing(word)]
    assert content_words(text) == expected


@given(st.text(max_size=40), st.text(max_size=40))
def test_texts_that_are_put_together_say_as_much_as_both(one: str, other: str) -> None:
    assert specificity(f"{one}\n{other}") == specificity(one) + specificity(other)
    assert words(f"{one}\n{other}") == words(one) + words(other)
