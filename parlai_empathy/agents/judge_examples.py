"""From messages to what a judge learns: pairs of context and reply, and what is true of them. Pure functions."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parlai_empathy.errors import DataError


@dataclass(frozen=True)
class TextPair:
    """What is judged: a reply, and the turns before it, oldest first; none for a text that stands alone."""

    turns: tuple[str, ...]
    reply: str


@dataclass(frozen=True)
class Contrast:
    """A reply that is true or not, and the number of the message that it belongs to."""

    pair: TextPair
    is_true: bool
    message: int


def last_line(lines: Sequence[str]) -> TextPair:
    """The last line in the context of the others."""
    return TextPair(tuple(lines[:-1]), lines[-1])


def labels_of(message: Mapping[str, Any]) -> list[str]:
    """The true answers, in training or in evaluation."""
    return list(message.get("labels") or message.get("eval_labels") or [])


def numbers(classes: Sequence[str] | None) -> list[float] | None:
    """The classes as numbers; None if there are no classes, or some that are no numbers."""
    try:
        values = [float(name) for name in classes or ()]
    except ValueError:
        return None
    return values if values and all(map(math.isfinite, values)) else None


def shares(message: Mapping[str, Any], classes: Sequence[str]) -> list[float]:
    """How much each class is true of a message; the shares add up to 1.

    Where the message has ``ratings``, each of them counts alike. Of a mean (``rating_mean``) its two neighbours among
    the classes take their parts. Else it is the label alone.

    :raises DataError: if the label is no class.
    """
    values = numbers(classes)
    if values and message.get("ratings"):
        return [message["ratings"].count(value) / len(message["ratings"]) for value in values]
    if values and message.get("rating_mean") is not None:
        return _neighbours(message["rating_mean"], values)
    label = labels_of(message)[0]
    if label not in classes:
        raise DataError(f"the label {label!r} is none of the classes {', '.join(classes)}: check --classes")
    return [float(label == name) for name in classes]


def _neighbours(mean: float, values: Sequence[float]) -> list[float]:
    """Shares of the two values next to ``mean`` whose mean it is."""
    below = max((value for value in values if value <= mean), default=min(values))
    above = min((value for value in values if value >= mean), default=max(values))
    part = 0.0 if below == above else (mean - below) / (above - below)
    return [(value == below) * (1 - part) + (value == above) * part for value in values]


def contrasts(
    messages: Sequence[Mapping[str, Any]], contexts: Sequence[Sequence[str]], negatives: int, draw: random.Random
) -> list[Contrast]:
    """For each message its true reply, one of several by chance, and up to ``negatives`` others.

    The others are the message's own candidates first, then true replies of the other messages.

    :param contexts: the turns before each message's reply.
    """
    chosen = [draw.choice(labels_of(message)) for message in messages]
    found = []
    for number, (message, turns) in enumerate(zip(messages, contexts, strict=True)):
        true = set(labels_of(message))
        own = [text for text in message.get("label_candidates") or () if text not in true]
        others = [text for text in dict.fromkeys(chosen) if text not in true and text not in own]
        own = draw.sample(own, min(len(own), negatives))
        others = draw.sample(others, min(len(others), negatives - len(own)))
        replies = [(chosen[number], True), *((text, False) for text in (*own, *others))]
        found += [Contrast(TextPair(tuple(turns), text), is_true, number) for text, is_true in replies]
    return found
