"""Tokenization for DeepMoji's vocabulary: each expectation follows from the published rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.deepmoji.words import BREAK, LINK, NAME, NUMBER, SPECIAL, words_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm SO happy!", ["i'm", "so", "happy", "!"]),
        ("sooooo loooool", ["soo", "lool"]),  # repeated letters are reduced to two
        ("what??!!!", ["what", "??", "!!"]),  # repeated punctuation is one word, also reduced to two
        ("\u00a3\u00a3\u00a3", ["\u00a3\u00a3\u00a3"]),  # but only ASCII is reduced
        ("see http://t.co/aB1 or www.x.com", ["see", LINK, "or", LINK]),
        ("@Anna and @bob_2, hi", [NAME, "and", NAME, ",", "hi"]),
        ("1000 dogs, 3 cats", [NUMBER, "dogs", ",", NUMBER, "cats"]),
        ("red-haired #Yes ##no", ["red-haired", "#yes", "#", "#no"]),
        ("<3 :) ;-) o_o x_x >:(", ["<3", ":)", ";-)", "o_o", "x_x", ">:("]),
        ("Mr. Smith from the U.S. said", ["mr.", "smith", "from", "the", "u.s.", "said"]),
        ("\u201cit\u2019s\u201d \u2013 ok\u2026", ['"', "it's", '"', "-", "ok", ".."]),  # punctuation becomes ASCII
        ("\U0001f622\U0001f622\ufe0f", ["\U0001f622", "\U0001f622"]),  # each emoji is a word, without its variant
        ("na\u00efve", ["na", "\u00ef", "ve"]),  # non-ASCII letters are words of their own
        ("\U0001d407i, \uff28I", ["hi", ",", "hi"]),  # ornamental letters become ASCII, in lower case
        ("a\nb\r\nc<br>d", ["a", BREAK, "b", BREAK, "c", BREAK, "d"]),
        ("  \n ", []),
        ("", []),
    ],
)
def test_tokenization(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


def test_typed_special_words_do_not_become_special_tokens() -> None:
    for special in SPECIAL:
        assert special not in words_of(f"a {special} b")


@given(st.text())
def test_words_are_nonempty_and_contain_no_whitespace(text: str) -> None:
    for word in words_of(text):
        assert word
        assert not any(character.isspace() for character in word)


@given(st.text(st.sampled_from("abc :)(-'.!@#1\n"), max_size=30))
def test_tokenization_loses_no_characters_of_plain_text(text: str) -> None:
    """Except for whitespace, repeated punctuation, names and numbers, which have words of their own."""
    kept = set("".join(word for word in words_of(text) if word not in SPECIAL))
    if not {NAME, NUMBER} & set(words_of(text)):
        assert kept == set(text) - set(" \n")
