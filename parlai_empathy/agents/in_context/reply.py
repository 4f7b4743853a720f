"""The fields of an agent's message: the reply, how it was generated, and its metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.metrics import AverageMetric

from parlai_empathy.agents.in_context.truncation import Fitted
from parlai_empathy.language_models.completion import Completion, NoAnswer, cut_at_stop

_OF_COMPLETION = ("finish", "prompt_tokens", "completion_tokens", "cached")


def reply_text(text: str, stop: Sequence[str]) -> str:
    """Extract the reply from a model's text, as one line, because conversations store one turn per line.

    :param stop: texts at which a reply ends, even if the model continued.
    """
    return " ".join(cut_at_stop(text, stop)[0].split())


def reply_fields(
    answer: Completion | NoAnswer, prompt: Fitted, emotion: str | None, stop: Sequence[str], is_measured: bool
) -> dict[str, Any]:
    """Return a message's fields. In an evaluation, a failed reply has no text, so that it does not score 0.

    :param prompt: the prompt that was answered.
    :param emotion: the emotion by which examples were chosen, if any.
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
    """Return the metrics reported beyond ParlAI's own: means over all prompts, or over those with an answer."""
    means = {
        "no_answer": float("no_answer" in fields),
        "examples": float(len(prompt.examples)),
        "shortened": float(prompt.is_shortened),
    }
    means.update({name: float(fields[name]) for name in ("prompt_tokens", "completion_tokens") if name in fields})
    return {name: AverageMetric(value) for name, value in means.items()}
