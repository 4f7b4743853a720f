"""NIDF, the rarity of words: by hand, and by the formula of inverse document frequencies."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.nidf import KINDS, Nidf

# "the" occurs in 4 texts, "cat" in 2, "sat" in 1; repetitions within a text do not count.
TEXTS = [["the", "cat", "the"], ["the", "sat"], ["the", "cat", "cat"], ["the"], []]


def test_word_nidf_matches_hand_calculation() -> None:
    nidf = Nidf.of_texts(TEXTS, "mine")
    assert nidf.source == "mine"
    # log 4 = 2 log 2: cat is half-way between the most common and the rarest word.
    assert [nidf.of_word(word) for word in ("the", "cat", "sat", "dog")] == [0, pytest.approx(0.5), 1, None]


def test_reply_nidf_matches_hand_calculation() -> None:
    nidf = Nidf.of_texts(TEXTS, "mine")
    reply = ["the", "cat", "dog", "cat", "sat"]
    assert nidf.of(reply) == pytest.approx((0 + 0.5 + 0.5 + 1) / 4), "dog is not known; cat counts twice"
    assert nidf.of(reply, "max") == 1
    assert [nidf.of([], kind) for kind in KINDS] == [nidf.of(["dog"], kind) for kind in KINDS] == [None, None]


texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=12)


@given(texts)
def test_word_nidf_is_normalised_inverse_document_frequency(texts: list[list[str]]) -> None:
    words = sorted({word for text in texts for word in text})
    frequencies = {word: math.log(len(texts) / sum(word in text for text in texts)) for word in words}
    low, high = min(frequencies.values(), default=0), max(frequencies.values(), default=0)
    if low == high:
        with pytest.raises(NotComputableError):
            Nidf.of_texts(texts, "mine")
        return
    nidf = Nidf.of_texts(texts, "mine")
    for word in words:
        assert nidf.of_word(word) == pytest.approx((frequencies[word] - low) / (high - low))


@pytest.mark.parametrize("texts", [[], [[]], [["a", "b"], ["b", "a"]]])
def test_equally_common_words_raise_error(texts: list[list[str]]) -> None:
    with pytest.raises(NotComputableError, match=r"^NIDF: all words of mine are equally common: use more texts$"):
        Nidf.of_texts(texts, "mine")


def test_unknown_kind_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^NIDF's kind median: must be one of mean, max$"):
        Nidf.of_texts(TEXTS, "mine").of(["cat"], "median")
