"""The conversation so far: built turn by turn in a chat, or taken as a whole from a task's message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai_empathy.agents.in_context.template import Turn


class DialogueHistory:
    """The turns of a conversation.

    :param in_chat: whether each message is a single turn, even if it has several lines. Otherwise each line is a turn:
        the last one is the other person's, and the two alternate.
    """

    def __init__(self, in_chat: bool) -> None:
        self._in_chat = in_chat
        self._turns: list[Turn] = []
        self._has_ended = False
        self._true_reply: str | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, oldest first, without empty ones."""
        return tuple(self._turns)

    def clear(self) -> None:
        """Start a new conversation."""
        self._turns.clear()
        self._has_ended = False
        self._true_reply = None

    def hear(self, message: Mapping[str, Any]) -> None:
        """Add the other side's message. After one with ``episode_done``, a new conversation starts."""
        if self._has_ended:
            self.clear()
        text = message.get("text") or ""
        lines = [text] if self._in_chat else text.strip().split("\n")  # an empty last line is no turn
        turns = [Turn(line.strip(), bool(place % 2)) for place, line in enumerate(reversed(lines))]
        self._turns += [turn for turn in reversed(turns) if turn.text]
        self._has_ended = bool(message.get("episode_done"))
        self._true_reply = next(iter(message.get("labels") or message.get("eval_labels") or ()), None)

    def say(self, message: Mapping[str, Any]) -> None:
        """Add the reply; if the task provides the true reply, add that instead, as ParlAI's agents do."""
        text = (self._true_reply or message.get("text") or "").strip()
        if text and not self._has_ended:
            self._turns.append(Turn(text, True))
