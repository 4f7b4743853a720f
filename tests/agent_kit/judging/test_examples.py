"""Converting lines and turns into pairs of context and reply."""

from __future__ import annotations

import pytest

from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of, last_line, pair_of, pairs_of


def test_last_line_is_reply_to_previous_lines() -> None:
    assert last_line(["hello", "hi", "how are you?"]) == TextPair(("hello", "hi"), "how are you?")
    assert last_line(["hello"]) == TextPair((), "hello")


def test_pair_drops_empty_turns_and_strips_texts() -> None:
    assert pair_of([" hello ", "", " \n", "hi"], "\thow are you? ") == TextPair(("hello", "hi"), "how are you?")
    assert pair_of([], "") == TextPair((), "")


def test_each_reply_is_paired_with_its_own_context() -> None:
    assert pairs_of([["hello "], []], ["hi", " a text"]) == [TextPair(("hello",), "hi"), TextPair((), "a text")]
    with pytest.raises(ValueError, match="zip"):
        pairs_of([[]], [])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"labels": ["a", "b"]}, ["a", "b"]),
        ({"eval_labels": ("a",)}, ["a"]),
        ({"labels": [], "eval_labels": ["b"]}, ["b"]),
        ({"text": "a"}, []),
    ],
)
def test_labels_are_read_from_labels_or_eval_labels(message: dict[str, list[str]], expected: list[str]) -> None:
    assert labels_of(message) == expected
