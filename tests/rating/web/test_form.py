"""Forms as browsers send them."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.web.error_pages import Refusal
from parlai_empathy.rating.web.form import Form, fields_of

TEXTS = st.text(st.characters(codec="utf-8"))


@given(st.dictionaries(TEXTS, TEXTS))
def test_urlencoded_fields_round_trip_with_lf_newlines(fields: dict[str, str]) -> None:
    expected = {name: value.replace("\r\n", "\n") for name, value in fields.items()}
    assert fields_of(urlencode(fields).encode()) == expected


@given(st.binary())
def test_arbitrary_bytes_are_parsed_or_rejected(body: bytes) -> None:
    with suppress(Refusal):  # and no other exception
        assert isinstance(fields_of(body), dict)


def test_missing_fields_are_empty() -> None:
    form = Form({"a": "1"})
    assert (form.text("a"), form.text("b"), dict(form)) == ("1", "", {"a": "1"})


def test_ids_with_nul_characters_are_empty() -> None:
    form = Form({"a": "1", "b": "1\0"})
    assert (form.id("a"), form.id("b"), form.id("c")) == ("1", "", "")
    assert form.text("b") == "1\0"  # kept in a text, so that the page can say what is wrong with it


def test_numbers_are_whole_or_zero() -> None:
    texts = ["12", "007", "0", "-1", "1.5", "1e3", " 1", "\u0662", "\u00b2", "x", "", "9" * 9, "1" * 10]
    form = Form({text: text for text in texts})
    assert [form.number(text) for text in texts] == [12, 7, *[0] * 9, 999_999_999, 0]
    assert form.number("not sent") == 0


@pytest.mark.parametrize("body", [b"a=%ff", b"a=\xc3\xa9", b"a&" * 1001])
def test_malformed_forms_are_rejected(body: bytes) -> None:
    with pytest.raises(Refusal, match="400"):
        fields_of(body)
