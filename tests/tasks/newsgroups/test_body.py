"""Extraction of a post's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.tasks.newsgroups.body import own_words


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Two\nlines.\n", "Two lines."),
        ("  Much   space\t\n\n\nand \x0c pages", "Much space and pages"),
        ("> What?\nThat.", "That."),
        ("JD> What?\nThat.", "That."),
        (" > What?\n| and?\n: well\n} so\n< yes\nThat.", "That."),
        ("a > b is no quote", "a > b is no quote"),
        ("|x| is no quote", "|x| is no quote"),
        ("Jane writes:\n> What?\nThat.", "That."),
        ("In article <1@a.b> Jane writes:\n\n> What?\nThat.", "That."),
        ("In article <1@a.b>\njane@a.b (Jane) wrote:\n> What?\nThat.", "That."),
        ("In <1@a.b> Jane says:\n> What?\nThat.", "That."),
        ("Jane says:\nI agree with that.", "Jane says: I agree with that."),  # no quote follows
        ("> What?\nThat is what she said:\nnothing", "That is what she said: nothing"),
        ("Text.\n--\nJane, Ohio", "Text."),
        ("Text.\n-- \nJane, Ohio\n\n", "Text."),
        ("One.\n--\nTwo.\n--\nJane", "One. -- Two."),  # only the last "--" starts a signature
        ("Text.\n--\n" + "more\n" * 15, "Text."),
        ("Text.\n--\n" + "more\n" * 16, "Text. -- " + " ".join(["more"] * 16)),
        ("Text.\n--", "Text."),
        ("Text.\n---\nJane", "Text. --- Jane"),
        ("--\nJane", ""),
        ("> What?", ""),
        ("", ""),
        ("caf\xe9 \x08\x1b[1m \x85", "caf\xe9 [1m"),
    ],
)
def test_own_words(body: str, expected: str) -> None:
    assert own_words(body) == expected


@given(st.text(alphabet="ab>|:- \n\t\x08\xe9<"))
def test_own_words_are_one_line_without_control_characters(body: str) -> None:
    found = own_words(body)
    assert found == " ".join(found.split())
    assert "\x08" not in found
