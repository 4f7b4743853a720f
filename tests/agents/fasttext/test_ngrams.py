"""The rows of a text: published hash values, n-grams and subwords by hand, and the library's own results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.fasttext.ngrams import END, NgramSizes, ngram_buckets, row_numbers, subwords, word_hash

IDS = {END: 0, "a": 1, "dog": 2, "__label__kept": 3}


@pytest.mark.parametrize(
    ("word", "expected"),
    # The test values of FNV-1a's authors (http://www.isthe.com/chongo/tech/comp/fnv/), 32 bits.
    [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968), ("hello", 0x4F9F2CAB)],
)
def test_word_hash_matches_published_fnv1a_values(word: str, expected: int) -> None:
    assert word_hash(word) == expected


def test_word_hash_treats_bytes_above_127_as_negative() -> None:
    # One byte 0xE9, -23 as a signed one, 0xFFFFFFE9 in 32 bits: ((0x811C9DC5 ^ 0xFFFFFFE9) * 16777619) mod 2**32.
    assert word_hash("\udce9") == ((0x811C9DC5 ^ 0xFFFFFFE9) * 16777619) % 2**32
    assert word_hash("é") == ((((0x811C9DC5 ^ 0xFFFFFFC3) * 16777619) % 2**32 ^ 0xFFFFFFA9) * 16777619) % 2**32


def test_word_hash_accepts_lone_surrogates() -> None:
    assert 0 <= word_hash("\ud83d") < 2**32


@given(st.lists(st.integers(0, 2**32 - 1), max_size=6), st.integers(1, 4), st.integers(1, 1000))
def test_ngram_buckets_are_polynomials_of_signed_hashes(hashes: list[int], longest: int, buckets: int) -> None:
    signed = [number if number < 2**31 else number - 2**32 for number in hashes]
    expected = []
    for start in range(len(signed)):
        for stop in range(start + 2, min(start + longest, len(signed)) + 1):
            part = signed[start:stop]
            polynomial = sum(number * 116049371 ** (len(part) - 1 - place) for place, number in enumerate(part))
            expected.append(polynomial % 2**64 % buckets)
    assert list(ngram_buckets(hashes, longest, buckets)) == expected


@pytest.mark.parametrize(
    ("word", "shortest", "longest", "expected"),
    [
        ("ab", 2, 3, ["<a", "<ab", "ab", "ab>", "b>"]),
        ("ab", 1, 1, ["a", "b"]),  # < and > alone are not subwords
        ("ab", 0, 1, ["a", "b"]),  # a minimum of 0, which the library accepts, is one of 1
        ("é", 3, 5, ["<é>"]),  # characters count, not bytes
        ("ab", 5, 6, []),
        ("", 1, 2, ["<>"]),
    ],
)
def test_subwords_are_character_ngrams_with_boundary_marks(
    word: str, shortest: int, longest: int, expected: list[str]
) -> None:
    assert list(subwords(word, shortest, longest)) == expected


def test_row_numbers_of_words_and_bigrams() -> None:
    rows = row_numbers(["a", "new", "dog", END], IDS, NgramSizes(2, 10))
    assert rows[:3] == [1, 2, 0], "the new word has no row"
    pairs = list(ngram_buckets([word_hash(word) for word in ("a", "new", "dog", END)], 2, 10))
    assert rows[3:] == [4 + bucket for bucket in pairs], "but it is part of pairs, and buckets follow the words"
    assert len(pairs) == 3


def test_row_numbers_stop_at_end_token_and_skip_labels() -> None:
    words = NgramSizes(1, 0)
    assert row_numbers(["a", END, "dog"], IDS, words) == [1, 0]
    assert row_numbers(["__label__x", "a"], IDS, words) == [1]
    assert row_numbers(["a", "__label__x", "dog"], IDS, NgramSizes(2, 100)) == row_numbers(
        ["a", "dog"], IDS, NgramSizes(2, 100)
    )
    assert row_numbers(["__label__kept", "a"], IDS, words) == [3, 1], "a word of the model is one, however it is spelt"


def test_row_numbers_include_subwords_of_known_and_new_words() -> None:
    sizes = NgramSizes(1, 100, 3, 3)
    of_dog = [4 + word_hash(part) % 100 for part in ("<do", "dog", "og>")]
    assert row_numbers(["dog"], IDS, sizes) == [2, *of_dog]
    assert row_numbers(["cat"], IDS, sizes) == [4 + word_hash(part) % 100 for part in ("<ca", "cat", "at>")]
    assert row_numbers([END], IDS, sizes) == [0]
    assert row_numbers([END], {}, sizes) == []
