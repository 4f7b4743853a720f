"""Parsing the response bodies of servers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.completion import Completion, NoAnswer
from parlai_empathy.language_models.server.answer import (
    BrokenAnswerError,
    ServerAnswer,
    as_answer,
    error_reason,
    read_server_answer,
    shortened,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "type", "text", "finish_reason", "usage", "error", "prompt_tokens"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON | st.fixed_dictionaries({"choices": st.lists(JSON, max_size=2), "usage": JSON}))
def test_any_json_is_an_answer_or_broken(body: Any) -> None:
    try:
        found = read_server_answer(json.dumps(body).encode())
    except BrokenAnswerError as error:
        broken = str(error)
    else:
        assert isinstance(as_answer(found, ("x",), 1, 1), Completion | NoAnswer)
        broken = ""
    assert "\n" not in broken
    assert all("\n" not in part for part in error_reason(json.dumps(body).encode()))


@given(st.binary(max_size=40))
def test_non_json_bytes_are_broken(body: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        read_server_answer(b"<" + body)
    assert error_reason(b"<" + body) == ("", "")


def test_nested_brackets_beyond_the_parser_are_broken() -> None:
    with pytest.raises(BrokenAnswerError, match="invalid or truncated JSON"):
        read_server_answer(b"[" * 200_000)
    assert error_reason(b"[" * 200_000) == ("", "")


def test_impossible_token_counts_are_not_reported() -> None:
    usage = {"prompt_tokens": 10**30, "completion_tokens": -1}
    found = read_server_answer(json.dumps({"choices": [{"text": "a"}], "usage": usage}).encode())
    assert (found.prompt_tokens, found.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "I am "}, {"type": "text", "text": "sorry."}], "I am sorry."),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Oh."}], "Oh."),
        ([{"type": "reasoning", "text": "Hm."}, {"text": "Oh."}], "Oh."),
        ([{"type": "image_url", "image_url": {"url": "a"}}, "?", {"type": "text", "text": 3}], None),
        ([], None),
        ({"type": "text", "text": "Oh."}, None),
    ],
)
def test_content_in_parts_is_the_text_of_its_texts(content: Any, text: str | None) -> None:
    body = {"choices": [{"message": {"content": content}}]}
    assert read_server_answer(json.dumps(body).encode()).text == text


def test_empty_body_is_broken() -> None:
    with pytest.raises(BrokenAnswerError, match="nothing at all"):
        read_server_answer(b"")


def test_invalid_token_counts_are_ignored() -> None:
    body = {"choices": [{"text": "a"}], "usage": {"prompt_tokens": "7", "completion_tokens": -1}}
    found = read_server_answer(json.dumps(body).encode())
    assert found == ServerAnswer("a", "stop", "", None, None)
    assert as_answer(found, (), 5, 6) == Completion("a", "stop", 5, 6)


@pytest.mark.parametrize(
    ("body", "reason", "code"),
    [
        ({"error": {"message": "too\nlong", "code": "context_length_exceeded"}}, "too long", "context_length_exceeded"),
        ({"error": "overloaded"}, "overloaded", ""),
        ({"object": "error", "message": "no model", "code": 404}, "no model", ""),
        ({"detail": "Not Found"}, "Not Found", ""),
        ([], "", ""),
    ],
)
def test_error_reason_of_various_formats(body: Any, reason: str, code: str) -> None:
    assert error_reason(json.dumps(body).encode()) == (reason, code)


def test_shortened_collapses_whitespace_and_truncates() -> None:
    assert shortened(" a\n b\t") == "a b"
    assert shortened("abcdefgh", 6) == "abc..."
