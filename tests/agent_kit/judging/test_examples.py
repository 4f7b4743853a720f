"""Converting lines and turns into pairs of context and reply."""

from __future__ import annotations

import pytest

from parlai_empathy.agent_kit.judging.examples import TextPair, labels_of, last_line, pair_of, pairs_of


def test_the_last_line_is_judged_in_the_context_of_the_others() -> None:
    assert last_line(["hello", "hi", "how are you?"]) == TextPair(("hello", "hi"), "how are you?")
    assert last_line(["hello"]) == TextPair((), "hello")


def test_a_pair_has_no_empty_turns_and_no_space_round_its_texts() -> None:
    assert pair_of([" hello ", "", " \n", "hi"], "\thow are you? ") == TextPair(("hello", "hi"), "how are you?")
    assert pair_of([], "") == TextPair((), "")


def test_each_reply_has_its_own_turns() -> None:
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
def test_labels_of_training_and_of_evaluation(message: dict[str, list[str]], expected: list[str]) -> None:
    assert labels_of(message) == expected
