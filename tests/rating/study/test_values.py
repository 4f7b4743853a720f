"""Typed values of a study file, and the lines that say which one is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.study.values import Values, shown

KEYS = ("title", "size", "share", "gold", "names", "systems")


def values(**raw: Any) -> Values:
    return Values("a.yaml", raw, KEYS)


def refused(read: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(OptionError) as caught:
        read(*arguments, **named)
    return str(caught.value).removeprefix("a.yaml: ")


def test_values_are_read_in_their_types() -> None:
    given = values(title=" Herons ", size=3, share=2, gold=True, names=[" a ", "b"], systems={"A": "a.jsonl"})
    assert given.text("title") == "Herons"
    assert given.one_of("title", [" Herons "]) == " Herons "
    assert (given.whole("size", None, 1), given.count("size", 1, 1)) == (3, 3)
    share = given.positive("share", 1.0)
    assert (share, type(share)) == (2.0, float)
    assert given.flag("gold", False) is True
    assert given.texts("names") == ("a", "b")
    assert given.named("systems") == {"A": "a.jsonl"}
    assert list(given.children("names")) == [("a.yaml: names 1", " a "), ("a.yaml: names 2", "b")]


@pytest.mark.parametrize("raw", [{}, {"title": None, "names": None, "systems": None}])
def test_missing_and_empty_keys_get_defaults(raw: dict[str, None]) -> None:
    given = values(**raw)
    assert given.text("title", "x") == "x"
    assert given.texts("names", ("y",)) == ("y",)
    assert given.named("systems") == {}
    assert list(given.children("names")) == []
    assert not given.has("title")


def test_missing_keys_get_defaults_of_each_type() -> None:
    given = values()
    assert given.one_of("title", ["x", "y"], "y") == "y"
    assert given.flag("gold", True) is True
    assert (given.whole("size", None, 1), given.whole("size", 4, 1), given.count("size", 4, 1)) == (None, 4, 4)
    assert given.positive("share", 0.5) == 0.5


def test_key_with_a_false_value_has_one() -> None:
    given = values(gold=False, size=0, title="")
    assert given.has("gold")
    assert given.has("size")
    assert given.has("title")
    assert given.text("title", "not this") == ""  # with a default, a text may be blank


def test_ends_of_a_range_belong_to_it() -> None:
    given = values(size=3)
    assert given.whole("size", None, 3, 3) == 3
    assert refused(given.whole, "size", None, 4) == "size is 3, expected a whole number of at least 4"
    assert refused(given.whole, "size", None, 1, 2) == "size is 3, expected a whole number from 1 to 2"
    assert values(share=10**9).positive("share", 1.0) == 1e9
    message = "expected a number above 0, at most 1,000,000,000"
    assert refused(values(share=10**9 + 1).positive, "share", 1.0) == f"share is 1000000001, {message}"
    assert refused(values(share=0).positive, "share", 1.0) == f"share is 0, {message}"


def test_a_word_may_stand_for_no_limit() -> None:
    assert values(size="any").whole("size", 3, 1, none="any") is None
    message = "size is 'all', expected a whole number of at least 1, or any"
    assert refused(values(size="all").whole, "size", 3, 1, none="any") == message
    assert refused(values(size="any").count, "size", 3, 1) == "size is 'any', expected a whole number of at least 1"
    assert refused(values(size="").whole, "size", 3, 1) == "size is '', expected a whole number of at least 1"


@pytest.mark.parametrize("value", [True, 1.0, "3", None])
def test_whole_number_must_be_one(value: object) -> None:
    found = "is missing" if value is None else f"is {value!r}"
    assert refused(values(size=value).whole, "size", 3, 1) == f"size {found}, expected a whole number of at least 1"


@pytest.mark.parametrize(
    ("read", "key", "value", "message"),
    [
        (lambda v: v.text("title"), "title", None, "title is missing, expected a text"),
        (lambda v: v.text("title"), "title", " ", "title is ' ', expected a text"),
        (lambda v: v.text("title"), "title", 5, "title is 5, expected a text, in quotes"),
        (lambda v: v.text("title", "x"), "title", 5, "title is 5, expected a text, in quotes"),
        (lambda v: v.one_of("title", ["x", "y"]), "title", "z", "title is 'z', expected one of x, y"),
        (lambda v: v.one_of("title", ["x", "y"]), "title", None, "title is missing, expected one of x, y"),
        (lambda v: v.one_of("title", ["x"]), "title", ["x"], "title is ['x'], expected one of x"),
        (lambda v: v.flag("gold", True), "gold", 1, "gold is 1, expected true or false"),
        (lambda v: v.positive("share", 1.0), "share", True, "share is True, expected a number above 0, at most"),
        (lambda v: v.positive("share", 1.0), "share", float("nan"), "share is nan, expected a number above 0, at most"),
        (lambda v: v.texts("names"), "names", "x", "names is 'x', expected a list of texts, each in quotes if"),
        (lambda v: v.texts("names"), "names", ["x", " "], "names is ['x', ' '], expected a list of texts"),
        (lambda v: v.texts("names"), "names", None, "names is missing, expected a list of texts"),
        (lambda v: v.named("systems"), "systems", ["x"], "systems is ['x'], expected lines `name: value`"),
        (lambda v: list(v.children("names")), "names", {}, "names is {}, expected a list, each entry with a - before"),
    ],
)
def test_value_of_another_type_is_refused_in_one_line(read: Any, key: str, value: object, message: str) -> None:
    assert refused(read, values(**{key: value})).startswith(message)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("x", "a.yaml is 'x', expected lines `key: value` with title, size, share, gold, names, systems"),
        (None, "a.yaml is None, expected lines `key: value` with title, size, share, gold, names, systems"),
        ({"tittle": 1}, "a.yaml: there is no key 'tittle'; did you mean title?"),
        ({7: 1}, "a.yaml: there is no key 7; the keys are title, size, share, gold, names, systems"),
    ],
)
def test_unknown_key_or_no_mapping_is_refused(raw: object, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        Values("a.yaml", raw, KEYS)


def test_shown_value_is_short_and_on_one_line() -> None:
    assert shown("one\ntwo") == "'one\\ntwo'"
    assert len(shown("x" * 1000)) < 100
    assert "\n" not in shown({"a": ["b\n" * 50] * 50})
