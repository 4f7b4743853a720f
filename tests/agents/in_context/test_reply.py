"""The message for an answer of the model; test_in_context.py tests its use in ParlAI."""

from __future__ import annotations

from typing import Any

import pytest

from parlai_empathy.agents.in_context.example_source import Conversation
from parlai_empathy.agents.in_context.reply import reply_fields
from parlai_empathy.agents.in_context.truncation import Fitted
from parlai_empathy.language_models.completion import Answer, Completion, NoAnswer

WHOLE = Fitted("a prompt", (Conversation("c1", "sad", "", ("a", "b")),), 0, 0)
SHORTENED = Fitted("a prompt", (), 2, 3)
ANSWER = Completion(" Oh no!\n\nHow come? Human: I", "stop", 30, 9, cached=True)


def fields(
    answer: Answer, prompt: Fitted = WHOLE, emotion: str | None = None, measured: bool = False
) -> dict[str, Any]:
    found = reply_fields(answer, prompt, emotion, ("Human:",), measured)
    if "metrics" in found:
        found["metrics"] = {name: metric.value() for name, metric in found["metrics"].items()}
    return found


def test_reply_fields_of_an_answer() -> None:
    assert fields(ANSWER, emotion="sad") == {
        "text": "Oh no! How come?",
        "examples": ["c1"],
        "finish": "stop",
        "prompt_tokens": 30,
        "completion_tokens": 9,
        "cached": True,
        "emotion_used": "sad",
    }


def test_reply_fields_count_dropped_examples_and_turns() -> None:
    found = fields(ANSWER, SHORTENED, measured=True)
    assert (found["dropped_examples"], found["dropped_turns"], found["examples"]) == (2, 3, [])
    assert found["metrics"] == {
        "no_answer": 0,
        "examples": 0,
        "shortened": 1,
        "prompt_tokens": 30,
        "completion_tokens": 9,
    }


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(NoAnswer("filtered"), "filtered"), (Completion(" Human: I", "stop", 30, 9), "an empty text")],
)
def test_missing_answer_has_text_only_in_chat(answer: Answer, reason: str) -> None:
    assert fields(answer)["text"] == ""
    measured = fields(answer, measured=True)
    assert "text" not in measured
    assert measured["no_answer"] == reason
    assert measured["metrics"]["no_answer"] == 1
