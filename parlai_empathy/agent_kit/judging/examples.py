"""A judge's input: a reply and the turns before it, extracted from a conversation's lines. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TextPair:
    """A judge's input: a reply, and the turns before it, oldest first; no turns for a standalone text."""

    turns: tuple[str, ...]
    reply: str


def pair_of(turns: Iterable[str], reply: str) -> TextPair:
    """Return the pair, with texts stripped and empty turns dropped."""
    return TextPair(tuple(turn.strip() for turn in turns if turn.strip()), reply.strip())


def pairs_of(contexts: Iterable[Iterable[str]], replies: Iterable[str]) -> list[TextPair]:
    """Pair each reply with the turns before it."""
    return [pair_of(turns, reply) for turns, reply in zip(contexts, replies, strict=True)]


def last_line(lines: Sequence[str]) -> TextPair:
    """Return the last line as the reply, and the lines before it as its context."""
    return TextPair(tuple(lines[:-1]), lines[-1])


def labels_of(message: Mapping[str, Any]) -> list[str]:
    """Return the true labels of a training or evaluation message."""
    return list(message.get("labels") or message.get("eval_labels") or [])
