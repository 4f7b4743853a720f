"""Parsing the streamed response bodies of servers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server import piece

from parlai_empathy.language_models.server.answer import EMPTY, BrokenAnswerError, ServerAnswer
from parlai_empathy.language_models.server.stream import ServerStream

DONE = b"data: [DONE]\n\n"


def event(data: Any, raw: bool = False) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=not raw).encode() + b"\n\n"


def read(*pieces: bytes) -> tuple[ServerAnswer, list[str]]:
    """Return the answer and the partial answers reported on the way."""
    reported: list[str] = []
    stream = ServerStream(reported.append)
    for one in pieces:
        stream.take(one)
    return stream.answer(), reported


def broken(*pieces: bytes) -> str:
    with pytest.raises(BrokenAnswerError) as caught:
        read(*pieces)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_chat_chunks_are_joined() -> None:
    counts = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    found, reported = read(
        event(piece("", role="assistant")), event(piece("Oh")), event(piece(" no")), event(piece(finish="length")),
        event(counts), DONE,
    )  # fmt: skip
    assert found == ServerAnswer("Oh no", "length", "", 7, 2)
    assert reported == ["Oh", "Oh no"]


def test_text_chunks_are_joined() -> None:
    found, reported = read(
        event({"choices": [{"text": "Oh"}]}), event({"choices": [{"text": ".", "finish_reason": "x"}]})
    )
    assert found == ServerAnswer("Oh.", "x", "", None, None)
    assert reported == ["Oh", "Oh."]


# Characters that break lines in Python but not in JSON, and multi-byte characters, also as two escapes in two pieces.
TRICKY = [piece("a\u2028b\x85"), piece("\u20ac\U0001f642"), piece("\ud83d"), piece("\ude42"), piece(finish="stop")]


@given(st.lists(st.integers(1, 400), max_size=12), st.booleans(), st.booleans())
def test_result_does_not_depend_on_byte_boundaries(cuts: list[int], has_returns: bool, has_comments: bool) -> None:
    body = b"".join(event(one, raw=number < 2) for number, one in enumerate(TRICKY)) + DONE
    if has_comments:
        body = b": still there\n\nevent: message\nid: 1\n" + body.replace(b"data: ", b":x\ndata:")
    if has_returns:
        body = body.replace(b"\n", b"\r\n")
    places = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    found, reported = read(*(body[begin:end] for begin, end in pairwise(places)))
    assert found == ServerAnswer("a\u2028b\x85\u20ac\U0001f642\U0001f642", "stop", "", None, None)
    assert reported[-1] == found.text


def test_multi_line_data_is_one_event() -> None:
    assert read(b'data: {"choices":\ndata: [{"text": "a", "finish_reason": "stop"}]}\n\n')[0].text == "a"


def test_last_event_needs_no_trailing_blank_line() -> None:
    assert read(event(piece("a")), b"data: [DONE]")[0].text == "a"
    assert read(event(piece("a")), b'data: {"choices": [{"text": "b", "finish_reason": "stop"}]}')[0].text == "ab"


def test_data_after_the_end_is_ignored() -> None:
    stream = ServerStream(lambda text: None)
    stream.take(event(piece("a", "stop")))
    assert (stream.is_whole, stream.is_over) == (True, False)
    stream.take(b'data: {"choices": [], "usa')  # the connection breaks within the token counts
    assert stream.answer() == ServerAnswer("a", "stop", "", None, None)
    stream = ServerStream(lambda text: None)
    stream.take(event(piece("a")) + DONE + b"data: {nonsense}\n\n")
    assert stream.is_over
    assert stream.answer().text == "a"


def test_refusal_chunks_are_joined() -> None:
    found, reported = read(event(piece(refusal="I will")), event(piece(refusal=" not.", finish="stop")), DONE)
    assert found == ServerAnswer(None, "stop", "I will not.", None, None)
    assert reported == []


def test_pieces_in_parts_are_joined() -> None:
    thought = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    words = [[{"type": "text", "text": text}] for text in ("I am", " sorry.")]
    found, reported = read(*(event({"choices": [{"delta": {"content": one}}]}) for one in (thought, *words)), DONE)
    assert found == ServerAnswer("I am sorry.", "stop", "", None, None)
    assert reported == ["I am", "I am sorry."]


def test_non_streaming_response_is_accepted() -> None:
    whole = {"choices": [{"message": {"content": "Oh no"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7}}
    assert read(json.dumps(whole, indent=1).encode()) == (ServerAnswer("Oh no", "stop", "", 7, None), ["Oh no"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "nothing at all"),
        (b"<!DOCTYPE html>\n<html></html>", "invalid or truncated JSON: '<!DOCTYPE html> <html></html>'"),
        (b'{"error": {"message": "over\\nloaded"}}', "an error: over loaded"),
        (event(piece("a")), "a part of an answer"),
        (event(piece("a")) + b'data: {"choices": [{"text": "Oh', "a part of an answer"),
        (event(piece("a")) + event({"error": {"message": "over\nloaded"}}), "an error: over loaded"),
        (
            event(piece("a")) + event({"choices": [{"finish_reason": "error", "error": {"message": "over\nloaded"}}]}),
            "an error: over loaded",
        ),
        (event(piece("a")) + event(piece(finish="abort")) + DONE, "a part of an answer, finish 'abort'"),
        (b"data: <html>\n\n", "an event that is not JSON"),
        (b"data: " + b"[" * 200_000 + b"\n\n", "an event that is not JSON"),
        (DONE, EMPTY),
        (event({"choices": []}) + DONE, EMPTY),
        (event({"choices": []}), "a part of an answer"),
    ],
)
def test_broken_stream_names_the_reason(body: bytes, reason: str) -> None:
    assert broken(body) == reason


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "content", "refusal", "text", "finish_reason", "usage", "error"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.lists(ODD | st.fixed_dictionaries({"choices": st.lists(ODD, max_size=2)}), max_size=4), st.binary(max_size=9))
def test_any_events_are_an_answer_or_broken(events: list[Any], more: bytes) -> None:
    reported: list[str] = []
    stream = ServerStream(reported.append)
    try:
        stream.take(b"".join(map(event, events)) + more)
        found = stream.answer()
    except BrokenAnswerError as error:
        reason = str(error)
    else:
        reason = ""
        assert (found.text or "") == (reported[-1] if reported else "")
    assert "\n" not in reason
