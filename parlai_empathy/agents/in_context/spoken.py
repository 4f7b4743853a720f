"""What was said so far, as an agent keeps it: turn by turn in a chat, or all at once where a task tells the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai_empathy.agents.in_context.template import Turn


class Spoken:
    """The turns of a conversation.

    :param in_chat: whether each message is one turn, whatever lines it has. Else each line is a turn: a task's message
        ends with what the other person said last, and before it the two take turns.
    """

    def __init__(self, in_chat: bool) -> None:
        self._in_chat = in_chat
        self._turns: list[Turn] = []
        self._has_ended = False
        self._true_reply: str | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Oldest first, without empty ones."""
        return tuple(self._turns)

    def clear(self) -> None:
        """Begin a new conversation."""
        self._turns.clear()
        self._has_ended = False
        self._true_reply = None

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take what the other side says. After a message with ``episode_done`` a new conversation begins."""
        if self._has_ended:
            self.clear()
        text = message.get("text") or ""
        lines = [text] if self._in_chat else text.strip().split("\n")  # a last line that is empty is nobody's turn
        turns = [Turn(line.strip(), bool(place % 2)) for place, line in enumerate(reversed(lines))]
        self._turns += [turn for turn in reversed(turns) if turn.text]
        self._has_ended = bool(message.get("episode_done"))
        self._true_reply = next(iter(message.get("labels") or message.get("eval_labels") or ()), None)

    def say(self, message: Mapping[str, Any]) -> None:
        """Take what was answered; as ParlAI's agents do, the true reply in its place, where the task tells it."""
        text = (self._true_reply or message.get("text") or "").strip()
        if text and not self._has_ended:
            self._turns.append(Turn(text, True))
