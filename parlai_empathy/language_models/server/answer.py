"""Parses the body of an OpenAI-compatible server's response, which may be anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parlai_empathy.language_models.completion import Answer, NoAnswer, answer_of

EMPTY = "an empty list of choices"
FILTERED = "content_filter"
"""Why an answer ended."""

# How servers refuse a prompt for what it says: by a code (Azure, OpenAI's proxies, DashScope), or in words if the code
# has other meanings too (OpenAI's invalid_prompt, DeepSeek).
_FILTER_CODES = (FILTERED, "content_policy_violation", "data_inspection_failed")
_FILTER_WORDS = re.compile(r"\b(prompt|input) was flagged\b|content exists risk", re.IGNORECASE)

_FAILED = ("error", "abort")

_MOST_TOKENS = 2**53  # the cache, SQLite, cannot hold any whole number


class BrokenAnswerError(Exception):
    """The server sent something that is not an answer; a retry may succeed. The message says what was sent.

    :param is_empty: whether the response was valid except for its empty list of choices.
    :param usage: what the response reports of its tokens, which may be charged.
    """

    def __init__(self, text: str, is_empty: bool = False, usage: Any = None) -> None:
        super().__init__(text)
        self.is_empty = is_empty
        self.tokens = (_count(usage, "prompt_tokens") or 0, _count(usage, "completion_tokens") or 0)
        """The numbers of tokens read and written."""


@dataclass(frozen=True)
class ServerAnswer:
    """A server's answer.

    :param prompt_tokens: the number of tokens read; None if not reported.
    :param completion_tokens: the number of tokens written; None if not reported.
    """

    text: str | None
    finish: str
    refusal: str
    prompt_tokens: int | None
    completion_tokens: int | None


def read_server_answer(body: bytes, hide: Callable[[str], str] = str) -> ServerAnswer:
    """Return the first choice of a completion or a chat completion.

    :param hide: masks secrets in what errors quote; before it is shortened, which may cut a secret in two.
    :raises BrokenAnswerError: for HTML, a truncated body, other JSON, or no choice.
    """
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError) as error:  # thousands of nested brackets
        begin = shortened(hide(body.decode("utf-8", "replace")), 60)
        raise BrokenAnswerError(f"invalid or truncated JSON: {begin!r}" if begin else "nothing at all") from error
    if not isinstance(whole, dict) or not isinstance(whole.get("choices"), list):
        # Some gateways report upstream errors with status 200.
        said = error_message(whole)
        raise BrokenAnswerError(f"an error: {shortened(hide(said))}" if said else "JSON without choices")
    if not whole["choices"]:
        raise BrokenAnswerError(EMPTY, is_empty=True, usage=whole.get("usage"))
    choice = whole["choices"][0]
    if not isinstance(choice, dict):
        raise BrokenAnswerError("an invalid choice")
    check_choice(choice, hide)
    return read_choice(choice, whole.get("usage"))


def check_choice(choice: Mapping[str, Any], hide: Callable[[str], str] = str) -> None:
    """Check that a choice, or a piece of one, did not fail while it was written: its text is only a part of the answer.

    OpenRouter then puts an ``error`` into the choice; vLLM and SGLang end it with ``abort``.

    :param hide: as in :func:`read_server_answer`.
    :raises BrokenAnswerError: if it failed.
    """
    finish = choice.get("finish_reason")
    if choice.get("error") or finish in _FAILED:
        said = shortened(hide(error_message({"error": choice.get("error")})))
        raise BrokenAnswerError(f"an error: {said}" if said else f"a part of an answer, finish {finish!r}")


def read_choice(choice: Mapping[str, Any], usage: Any) -> ServerAnswer:
    """Return one choice, with the token counts of its response."""
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    return ServerAnswer(
        text=read_text(message.get("content") if message else choice.get("text")),
        finish=str(choice.get("finish_reason") or "stop"),
        refusal=shortened(str(message.get("refusal") or "")),
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
    )


def read_text(content: Any) -> str | None:
    """Return the text of an answer or a piece of it, which some servers send in parts; None if there is none.

    Of the parts, only those of type ``text`` are the answer; others are a reasoning model's thoughts, or images.
    """
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    parts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


def _count(usage: Any, name: str) -> int | None:
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and 0 <= number <= _MOST_TOKENS else None


def as_answer(found: ServerAnswer, stop: Sequence[str], prompt_tokens: int, completion_tokens: int) -> Answer:
    """Convert a server's answer. The text is also cut at stop texts here, since not every server looks for them.

    :param prompt_tokens: used if the server does not report the number of tokens read.
    :param completion_tokens: used if the server does not report the number of tokens written.
    """
    if found.finish == FILTERED:
        return NoAnswer("the server's content filter blocked it")
    finish = "length" if found.finish in ("length", "max_tokens") else "stop"
    if found.text is None and found.refusal:
        return NoAnswer(f"the model refused: {found.refusal}")
    if found.text is None and finish == "stop":
        return NoAnswer(f"no text, finish {found.finish!r}")
    read = prompt_tokens if found.prompt_tokens is None else found.prompt_tokens
    written = completion_tokens if found.completion_tokens is None else found.completion_tokens
    return answer_of(found.text or "", stop, finish, read, written)


def error_reason(body: bytes, hide: Callable[[str], str] = str) -> tuple[str, str]:
    """Return why a server refused a request.

    :param hide: as in :func:`read_server_answer`.
    :returns: its message in one line, empty if there is none; and its code, such as ``insufficient_quota``.
    """
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    error = whole.get("error") if isinstance(whole, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return shortened(hide(error_message(whole))), str(code or "")


def is_filtered(body: bytes) -> bool:
    """Whether a server refused a request because its filter objects to the prompt, so that other prompts may pass."""
    said, code = error_reason(body)
    return code in _FILTER_CODES or bool(_FILTER_WORDS.search(said))


def error_message(whole: Any) -> str:
    """Return the server's error message; empty if there is none.

    The forms are ``{"error": {"message": ...}}`` (OpenAI), ``{"error": ...}``, ``{"message": ...}`` and
    ``{"detail": ...}``.
    """
    while isinstance(whole, dict):
        whole = next((whole[name] for name in ("error", "message", "detail") if whole.get(name)), "")
    return str(whole) if whole else ""


def shortened(text: str, length: int = 200) -> str:
    """Return the text on one line, truncated to ``length`` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= length else joined[: length - 3] + "..."
