"""Reads an answer that an OpenAI-compatible server sends bit by bit, as server-sent events, whatever stands in them.

Each event holds a piece of the text; one of the last says why the answer ended, and the very last may count tokens.
A body without events is read as a whole answer: some servers know no other, some send HTML or an error.
"""

from __future__ import annotations

import json
from typing import Any

from parlai_empathy.language_models.server.answer import (
    EMPTY,
    BrokenAnswerError,
    ServerAnswer,
    error_message,
    read_choice,
    read_server_answer,
    shortened,
)
from parlai_empathy.language_models.telling import Say

_END = b"[DONE]"
_PART = "a part of an answer"


class ServerStream:
    """One answer on its way.

    :param tell: gets the text so far with each piece that comes; also what a stop text will cut off.
    """

    def __init__(self, tell: Say) -> None:
        self._tell = tell
        self._unread = b""
        self._data: list[bytes] = []
        self._other: list[bytes] = []
        self._text = ""
        self._refusal = ""
        self._finish = ""
        self._usage: dict[str, Any] | None = None
        self._has_choice = False
        self._has_events = False
        self.is_over = False
        """Whether the server has said that nothing more follows."""

    @property
    def is_whole(self) -> bool:
        """Whether the text has come to its end, though counts may follow."""
        return self.is_over or bool(self._finish)

    def take(self, piece: bytes) -> None:
        """Read some more bytes of the body.

        :raises BrokenAnswerError: if an event is an error, or none that can be read.
        """
        *lines, self._unread = (self._unread + piece).split(b"\n")
        for line in lines:
            self._take_line(line.removesuffix(b"\r"))

    def answer(self) -> ServerAnswer:
        """The answer, once the body has ended.

        :raises BrokenAnswerError: if it is none, or only a part of one.
        """
        if not self.is_whole:
            self._take_line(self._unread)
            self._take_event(is_last=True)
        if not self._has_events:
            found = read_server_answer(b"\n".join(self._other))
            self._tell(found.text or "")
            return found
        if not self._has_choice and self.is_over:
            raise BrokenAnswerError(EMPTY, is_empty=True)
        if not self.is_whole:
            raise BrokenAnswerError(_PART)
        message = {"content": self._text or None, "refusal": self._refusal}
        return read_choice({"message": message, "finish_reason": self._finish}, self._usage)

    def _take_line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._has_events = True
            self._data.append(line.removeprefix(b"data:").strip())
        elif not line:
            self._take_event()
        else:
            self._other.append(line)  # a name or a comment; or there are no events at all

    def _take_event(self, is_last: bool = False) -> None:
        """An event ends: read its data."""
        data, self._data = b"\n".join(self._data), []
        if data.startswith(_END):
            self.is_over = True
        if not data or self.is_over:
            return
        try:
            event = json.loads(data)
        except ValueError as error:
            # Without its words, which may be those of an answer, and logs are not to repeat them.
            raise BrokenAnswerError(_PART if is_last else "an event that is no JSON") from error
        if isinstance(event, dict):
            self._take_object(event)

    def _take_object(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            raise BrokenAnswerError(f"an error: {shortened(error_message(event))}")
        if isinstance(event.get("usage"), dict):
            self._usage = event["usage"]
        choices = event.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take_choice(choices[0])

    def _take_choice(self, choice: dict[str, Any]) -> None:
        self._has_choice = True
        self._finish = str(choice.get("finish_reason") or self._finish)
        delta = choice.get("delta")
        piece = delta.get("content") if isinstance(delta, dict) else choice.get("text")
        refusal = delta.get("refusal") if isinstance(delta, dict) else None
        self._refusal += refusal if isinstance(refusal, str) else ""
        if isinstance(piece, str) and piece:
            self._text = _whole_characters(self._text + piece)
            self._tell(self._text)


def _whole_characters(text: str) -> str:
    """Join the halves of characters that JSON writes as two and a server has sent in two pieces."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
