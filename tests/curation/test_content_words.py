"""Counting content words in many texts at once agrees with the plain function for each text."""

from __future__ import annotations

import itertools
import sys
from string import ascii_lowercase
from typing import Any

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.curation.content_words import count_content_words, ready_to_count
from parlai_empathy.metrics.specificity import common_words, specificity, stop_words

WORDS = st.sampled_from(
    [
        *("the", "THE", "The.", '"the"', "(the)", "*the...", "the..", "((the", "the?!", "everything", "Everything,"),
        *("themselves...", "(nevertheless)", "nevertheless,x", "bread", "rises.", "lanterns", "x" * 40),
        *("", ".", "..", "...", "(", "((", '"', '""', '"""', "*", "**", ")", "*.", "\0", "the\0", "\0the"),
        *("\u212aeep", "\u212a", "\u0130s", "\u00e9", "\u00c9the", "the\u00a0the", "\u4e00", "\U0001f600"),
    ]
)
SPACES = st.sampled_from([" ", "  ", "\n", "\t", "\r\n", "\x0b", "\u2003"])
TEXTS = st.lists(st.tuples(WORDS, SPACES), max_size=8).map(lambda pairs: "".join(a + b for a, b in pairs))


def ready(texts: list[str | None]) -> Any:
    """Return the texts as the counting function receives them: a pyarrow array."""
    table = pyarrow.table({"n": range(len(texts)), "t": pyarrow.array(texts, pyarrow.string())})
    with duckdb.connect() as database:
        database.register("texts", table)
        found = database.sql(f"SELECT {ready_to_count('t')} AS t FROM texts ORDER BY n").to_arrow_table()
    return found["t"].combine_chunks()


def plain(texts: list[str | None]) -> list[int]:
    return [0 if text is None else specificity(text) for text in texts]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | TEXTS | TEXTS.map(str.rstrip), max_size=12), st.data())
def test_counts_match_specificity_on_random_texts(texts: list[str | None], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(texts)))
    array = ready(texts)
    assert count_content_words(array).to_pylist() == plain(texts)
    assert count_content_words(array.slice(start)).to_pylist() == plain(texts[start:])
    pieces = pyarrow.chunked_array([array.slice(0, start), array.slice(start)], type=pyarrow.string())
    assert count_content_words(pieces).to_pylist() == plain(texts)


def test_counts_match_specificity_on_short_words_with_punctuation() -> None:
    texts = ["".join(letters) for length in range(6) for letters in itertools.product('ax.("*,', repeat=length)]
    assert count_content_words(ready(texts)).to_pylist() == plain(texts)


def test_counts_match_specificity_on_common_words_and_near_misses() -> None:
    common = sorted(common_words())
    longer = [text for word in common for text in (word + "x", "x" + word, word + ".", "(" + word, word + "\0")]
    texts = [*common, *longer, *(word[1:] for word in common), *(word[:-1] for word in common)]
    assert count_content_words(ready(texts)).to_pylist() == plain(texts)


@pytest.mark.parametrize("length", range(6, 40))
def test_counts_match_specificity_on_long_words(length: int) -> None:
    words = [word.ljust(length, "x") for word in ("everything", "themselves", "the", "the\0", "\0")]
    texts = [
        text for word in words for text in (word, word[::-1], f"({word}...", f"the {word} of", word.rjust(length + 8))
    ]
    assert count_content_words(ready(texts)).to_pylist() == plain(texts)


def test_words_that_share_eight_letters_with_a_stop_word() -> None:
    """So many that some share its slot in the hash table, too."""
    endings = ["".join(letters) for letters in itertools.product(ascii_lowercase, repeat=3)]
    texts = [" ".join(word[:8] + ending for ending in endings) for word in sorted(stop_words()) if len(word) > 8]
    assert count_content_words(ready(texts)).to_pylist() == plain(texts)


@pytest.mark.parametrize("texts", [[], [None], [None, None], [""], ["", None, ""], ["the"], ["bread"]])
def test_counts_match_specificity_on_empty_and_tiny_arrays(texts: list[str | None]) -> None:
    assert count_content_words(ready(texts)).to_pylist() == plain(texts)


def test_counts_are_int32() -> None:
    assert count_content_words(ready(["two lanterns", None])).type == pyarrow.int32()


def test_kelvin_sign_is_the_only_character_with_ascii_lowercase() -> None:
    """All other non-ASCII letters stay non-ASCII in lower case, so that their word is no stop word."""
    beyond = map(chr, range(128, sys.maxunicode + 1))
    assert [letter for letter in beyond if letter.lower().isascii()] == ["\u212a"]
