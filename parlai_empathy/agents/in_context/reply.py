"""What an agent's message says: the reply, how it came about, and what an evaluation counts of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.metrics import AverageMetric

from parlai_empathy.agents.in_context.fitting import Fitted
from parlai_empathy.language_models.completion import Completion, NoAnswer, cut_at_stop

_OF_COMPLETION = ("finish", "prompt_tokens", "completion_tokens", "cached")


def reply_text(text: str, stop: Sequence[str]) -> str:
    """What of a model's text is the reply: one line, because a turn is a line wherever conversations are kept.

    :param stop: texts at which a reply ends, though the model may have gone on.
    """
    return " ".join(cut_at_stop(text, stop)[0].split())


def reply_fields(
    answer: Completion | NoAnswer, prompt: Fitted, emotion: str | None, stop: Sequence[str], is_measured: bool
) -> dict[str, Any]:
    """The fields of a message. One that is to be measured, and is no reply, has no text: it shall not score 0.

    :param prompt: what was answered.
    :param emotion: that the examples were chosen by, if they were.
    :param stop: texts at which a reply ends.
    """
    fields: dict[str, Any] = {"examples": [example.conv_id for example in prompt.examples]}
    text = ""
    if isinstance(answer, Completion):
        text = reply_text(answer.text, stop)
        fields.update({name: getattr(answer, name) for name in _OF_COMPLETION})
    if not text:
        fields["no_answer"] = answer.reason if isinstance(answer, NoAnswer) else "an empty text"
    if emotion:
        fields["emotion_used"] = emotion
    dropped = {"dropped_examples": prompt.dropped_examples, "dropped_turns": prompt.dropped_turns}
    fields.update({name: count for name, count in dropped.items() if count})
    if text or not is_measured:
        fields["text"] = text
    if is_measured:
        fields["metrics"] = _metrics(fields, prompt)
    return fields


def _metrics(fields: dict[str, Any], prompt: Fitted) -> dict[str, AverageMetric]:
    """What the report says beside ParlAI's own: means over the prompts, or over those with an answer."""
    means = {
        "no_answer": float("no_answer" in fields),
        "examples": float(len(prompt.examples)),
        "shortened": float(prompt.is_shortened),
    }
    means.update({name: float(fields[name]) for name in ("prompt_tokens", "completion_tokens") if name in fields})
    return {name: AverageMetric(value) for name, value in means.items()}
