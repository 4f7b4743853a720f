"""Parses an answer that an OpenAI-compatible server streams as server-sent events, whatever they contain.

Each event holds a piece of the text. One of the last says why the answer ended, and the last may hold token counts.
A body without events is parsed as a complete answer: some servers cannot stream, and some send HTML or an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from parlai_empathy.language_models.partial_answers import Say
from parlai_empathy.language_models.server.answer import (
    EMPTY,
    BrokenAnswerError,
    ServerAnswer,
    check_choice,
    error_message,
    read_choice,
    read_server_answer,
    read_text,
    shortened,
)

_END = b"[DONE]"
_PART = "a part of an answer"


class ServerStream:
    """One streamed answer.

    :param report: called with the text so far after each piece, including text that a stop text will cut off.
    :param hide: as in :func:`~parlai_empathy.language_models.server.answer.read_server_answer`.
    """

    def __init__(self, report: Say, hide: Callable[[str], str] = str) -> None:
        self._report = report
        self._hide = hide
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
        """Whether the server has marked the end of the stream."""

    @property
    def is_whole(self) -> bool:
        """Whether the text is complete, though token counts may follow."""
        return self.is_over or bool(self._finish)

    def take(self, piece: bytes) -> None:
        """Parse the next bytes of the body.

        :raises BrokenAnswerError: if an event is an error, or cannot be parsed.
        """
        *lines, self._unread = (self._unread + piece).split(b"\n")
        for line in lines:
            self._parse_line(line.removesuffix(b"\r"))

    def answer(self) -> ServerAnswer:
        """Return the answer, once the body has ended.

        :raises BrokenAnswerError: if it is not an answer, or incomplete.
        """
        if not self.is_whole:
            self._parse_line(self._unread)
            self._parse_event(is_last=True)
        if not self._has_events:
            found = read_server_answer(b"\n".join(self._other), self._hide)
            self._report(found.text or "")
            return found
        if not self._has_choice and self.is_over:
            raise BrokenAnswerError(EMPTY, is_empty=True, usage=self._usage)
        if not self.is_whole:
            raise BrokenAnswerError(_PART, usage=self._usage)
        message = {"content": self._text or None, "refusal": self._refusal}
        return read_choice({"message": message, "finish_reason": self._finish}, self._usage)

    def _parse_line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._has_events = True
            self._data.append(line.removeprefix(b"data:").strip())
        elif not line:
            self._parse_event()
        else:
            self._other.append(line)  # an event's name or a comment; or a body without events

    def _parse_event(self, is_last: bool = False) -> None:
        """Parse the data of an event that has ended."""
        data, self._data = b"\n".join(self._data), []
        if data.startswith(_END):
            self.is_over = True
        if not data or self.is_over:
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError) as error:
            # The data is not quoted: it may be part of an answer, which must not end up in logs.
            raise BrokenAnswerError(_PART if is_last else "an event that is not JSON") from error
        if isinstance(event, dict):
            self._take_object(event)

    def _take_object(self, event: dict[str, Any]) -> None:
        choices = event.get("choices")
        if event.get("error") or (not isinstance(choices, list) and error_message(event)):
            raise BrokenAnswerError(f"an error: {shortened(self._hide(error_message(event)))}")
        if isinstance(event.get("usage"), dict):
            self._usage = event["usage"]
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._parse_choice(choices[0])

    def _parse_choice(self, choice: dict[str, Any]) -> None:
        check_choice(choice, self._hide)
        self._has_choice = True
        self._finish = str(choice.get("finish_reason") or self._finish)
        delta = choice.get("delta")
        piece = read_text(delta.get("content") if isinstance(delta, dict) else choice.get("text"))
        refusal = delta.get("refusal") if isinstance(delta, dict) else None
        self._refusal += refusal if isinstance(refusal, str) else ""
        if piece:
            self._text = _whole_characters(self._text + piece)
            self._report(self._text)


def _whole_characters(text: str) -> str:
    """Join surrogate pairs, whose halves a server may have sent in two pieces."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
