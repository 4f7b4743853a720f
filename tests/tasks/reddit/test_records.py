"""Parsing lines: both schemas, every kind of invalid line, and random input."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.tasks.reddit.records import BadLine, Post, post_of_line

COMMENT = {
    "id": "c2715",
    "parent_id": "t1_c2700",
    "link_id": "t3_22569",
    "author": "somebody",
    "subreddit": "tea",
    "body": "Two minutes.",
    "created_utc": 1136074029,
    "score": 3,
}
SUBMISSION = {
    "id": "22569",
    "author": "somebody",
    "subreddit": "tea",
    "title": "How long?",
    "selftext": "It is green tea.",
    "created_utc": "1136074000",
}


def post(record: Any, **changes: Any) -> Post | BadLine:
    if changes:
        record = {name: value for name, value in {**record, **changes}.items() if value is not ...}
    return post_of_line(json.dumps(record).encode())


def test_comment_fields() -> None:
    assert post(COMMENT) == Post(
        name="t1_c2715",
        parent="t1_c2700",
        thread="t3_22569",
        author="somebody",
        subreddit="tea",
        text="Two minutes.",
        created=1136074029.0,
    )


def test_submission_text_is_title_and_selftext() -> None:
    expected = Post("t3_22569", None, "t3_22569", "somebody", "tea", "How long?\nIt is green tea.", 1136074000.0)
    assert post(SUBMISSION) == expected
    for without in ("", None, ...):
        found = post(SUBMISSION, selftext=without)
        assert isinstance(found, Post)
        assert found.text == "How long?"


def test_record_of_2024_parses_like_an_older_one() -> None:
    """It has some sixty more fields, fractional times, and the full name."""
    newer = post(COMMENT, created_utc=1136074029.0, name="t1_c2715", all_awardings=[], _meta={"retrieved_2nd_on": 1})
    assert newer == post(COMMENT)


@pytest.mark.parametrize("value", [1136074029, 1136074029.0, "1136074029", "1136074029.0", "1136074029."])
def test_created_utc_accepts_numbers_and_numeric_strings(value: Any) -> None:
    found = post(COMMENT, created_utc=value)
    assert isinstance(found, Post)
    assert found.created == 1136074029.0


def test_missing_author_is_recorded_as_deleted() -> None:
    for gone in (None, ..., "[deleted]"):
        found = post(COMMENT, author=gone)
        assert isinstance(found, Post)
        assert found.author == "[deleted]"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{} {}", "not JSON"),
        (b'{"body": ' + b"9" * 5_000 + b"}", "not JSON"),  # more digits than Python parses
        (b"[" * 100_000, "not JSON"),  # deeper than Python's recursion limit
        (b'{"body": "caf\xe9"}', "not UTF-8"),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b"NaN", "no object"),
        (b'"text"', "no object"),
        (b"{}", "missing field"),
    ],
)
def test_invalid_line_gives_the_reason(line: bytes, reason: str) -> None:
    found = post_of_line(line)
    assert isinstance(found, BadLine)
    assert found.reason == reason


@pytest.mark.parametrize("name", ["id", "parent_id", "link_id", "subreddit", "created_utc"])
def test_comment_with_missing_field_is_a_bad_line(name: str) -> None:
    assert post(COMMENT, **{name: ...}) == BadLine("missing field", name)


@pytest.mark.parametrize("name", ["id", "subreddit", "created_utc"])
def test_submission_with_missing_field_is_a_bad_line(name: str) -> None:
    assert post(SUBMISSION, **{name: ...}) == BadLine("missing field", name)


@pytest.mark.parametrize("name", ["id", "parent_id", "link_id", "subreddit", "body", "author"])
@pytest.mark.parametrize(
    ("value", "kind"), [(12, "a number"), (True, "true or false"), ([], "a list"), ({}, "an object")]
)
def test_wrong_field_type_is_a_bad_line(name: str, value: Any, kind: str) -> None:
    assert post(COMMENT, **{name: value}) == BadLine("wrong type", f"{name} is {kind}")


@pytest.mark.parametrize("name", ["id", "parent_id", "link_id", "subreddit", "body", "created_utc"])
def test_null_in_required_field_is_a_bad_line(name: str) -> None:
    assert post(COMMENT, **{name: None}) == BadLine("wrong type", f"{name} is null")


@pytest.mark.parametrize(("name", "value"), [("id", ""), ("id", "t1_a"), ("parent_id", "c2700"), ("link_id", "t5_6")])
def test_malformed_reddit_name_is_a_bad_line(name: str, value: str) -> None:
    assert post(COMMENT, **{name: value}) == BadLine("wrong type", f"{name} is not a Reddit name")


@pytest.mark.parametrize(
    "value", [-1, 10**30, 1e300, float("inf"), float("nan"), "soon", "", "-1", "9" * 400, "\u0661", True, [], {}]
)
def test_invalid_created_utc_is_a_bad_line(value: Any) -> None:
    found = post(COMMENT, created_utc=value)
    assert isinstance(found, BadLine)
    assert found.reason == "wrong type"


def test_lone_surrogate_is_a_bad_line() -> None:
    assert isinstance(post(COMMENT, body="\U0001f375"), Post)  # JSON writes it as a surrogate pair, \\ud83c \\udf75
    found = post(COMMENT, body="\ud83c")
    assert isinstance(found, BadLine)
    assert found.reason == "not UTF-8"


# --- random input -----------------------------------------------------------------------------------------------------

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def is_sound(found: Post | BadLine) -> None:
    """Assert that a post has the declared types and can be encoded, and that a bad line has a one-line reason."""
    if isinstance(found, BadLine):
        assert found.reason in {"not UTF-8", "not JSON", "no object", "missing field", "wrong type"}
        assert "\n" not in found.detail
        return
    texts = (found.name, found.parent or "", found.thread, found.author, found.subreddit, found.text)
    assert all(isinstance(text, str) and text.encode() is not None for text in texts)
    assert 0 <= found.created < 2**34
    assert (found.parent is None) == found.name.startswith("t3_")


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_random_bytes_give_a_valid_result(line: bytes) -> None:
    is_sound(post_of_line(line))


@settings(max_examples=300)
@given(st.sampled_from([COMMENT, SUBMISSION]), st.sampled_from(sorted({*COMMENT, *SUBMISSION})), VALUES)
def test_random_field_value_gives_a_valid_result(record: dict[str, Any], name: str, value: Any) -> None:
    is_sound(post_of_line(json.dumps({**record, name: value}).encode()))


@settings(max_examples=200)
@given(st.sampled_from([COMMENT, SUBMISSION]), st.integers(0, 250), st.binary(max_size=3), st.integers(0, 5))
def test_damaged_line_gives_a_valid_result(record: dict[str, Any], place: int, put: bytes, taken: int) -> None:
    line = json.dumps(record).encode()
    is_sound(post_of_line(line[:place] + put + line[place + taken :]))


def test_every_line_of_real_dumps_is_a_post(real_data: Any) -> None:
    from parlai_empathy.tasks.reddit.lines import read_lines

    read: Callable[[Any], Any] = read_lines
    for path in (real_data / "reddit").iterdir():
        found = [post_of_line(line) for _, line in read(path) if line.strip()]
        assert found
        assert [bad for bad in found if isinstance(bad, BadLine)] == []
