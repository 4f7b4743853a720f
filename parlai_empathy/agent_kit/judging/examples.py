"""What a judge is given: a reply and the turns before it, from a conversation's lines. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TextPair:
    """What is judged: a reply, and the turns before it, oldest first; none for a text that stands alone."""

    turns: tuple[str, ...]
    reply: str


def pair_of(turns: Iterable[str], reply: str) -> TextPair:
    """The pair, without turns that are empty and without space round the texts."""
    return TextPair(tuple(turn.strip() for turn in turns if turn.strip()), reply.strip())


def pairs_of(contexts: Iterable[Iterable[str]], replies: Iterable[str]) -> list[TextPair]:
    """A pair of each reply and the turns before it."""
    return [pair_of(turns, reply) for turns, reply in zip(contexts, replies, strict=True)]


def last_line(lines: Sequence[str]) -> TextPair:
    """The last line in the context of the others."""
    return TextPair(tuple(lines[:-1]), lines[-1])


def labels_of(message: Mapping[str, Any]) -> list[str]:
    """The true answers, in training or in evaluation."""
    return list(message.get("labels") or message.get("eval_labels") or [])
