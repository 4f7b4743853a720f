"""Specificity: content words counted by hand, and compared with a slower implementation."""

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
        # the, on, of, to, it and is are stop words, also with a punctuation mark after them
        ("The cat on the roof of Rome!", ["cat", "roof", "rome!"]),
        ('"Is it to be?"', ['be?"']),  # with two marks after a word, it is not recognised as a stop word
        ("(Is it to be?)", ["be?)"]),
        ("Is it to be?", []),
        ("", []),
        ("?  ... !", []),
        # words are split at whitespace only, whatever they contain
        ("I don't know\tRome's cats\n", ["don't", "know", "rome's", "cats"]),
        # every occurrence counts, in any case
        ("Cats, cats, CATS", ["cats,", "cats,", "cats"]),
        ("Zürich 2022", ["zürich", "2022"]),
    ],
)
def test_content_words_exclude_stop_words_and_bare_punctuation(text: str, expected: list[str]) -> None:
    assert content_words(text) == expected
    assert specificity(text) == len(expected)


def test_stop_words_match_scikit_learn() -> None:
    assert stop_words() == CountVectorizer(stop_words="english").get_stop_words()
    assert len(stop_words()) == 318
    assert stop_words() < common_words()


def says_nothing(word: str) -> bool:
    """Whether nothing or a stop word remains after removing at most one mark before the word and one after it."""
    starts = [word, *(word[1:] for mark in '("*' if word.startswith(mark))]
    ends = [start.removesuffix(mark) for start in starts for mark in ("", *'.,!?;:)"*', "...") if start.endswith(mark)]
    return any(not rest or rest in stop_words() for rest in ends)


@given(st.text(alphabet='abTHEof?.,"*()! \n', max_size=60))
def test_content_words_match_reference_implementation(text: str) -> None:
    expected = [word for word in re.split(r"[ \t\n\r]", text.lower()) if not says_nothing(word)]
    assert content_words(text) == expected


@given(st.text(max_size=40), st.text(max_size=40))
def test_counts_of_joined_texts_add_up(one: str, other: str) -> None:
    assert specificity(f"{one}\n{other}") == specificity(one) + specificity(other)
    assert words(f"{one}\n{other}") == words(one) + words(other)
