"""Parse a line of Pushshift's dumps: one JSON object, a comment or a submission.

The fields have hardly changed since 2005, but their types have: times are numbers or texts of digits, with or without a
fraction, and only newer dumps also have the full name (``t1_`` and the id).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_ID = re.compile(r"[0-9a-z]{1,16}")
_FULL_NAME = re.compile(r"t[13]_[0-9a-z]{1,16}")
_DIGITS = re.compile(r"[0-9]{1,12}(\.[0-9]*)?")
_KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
_LATEST = 1 << 34  # seconds, in the year 2514


@dataclass(frozen=True, slots=True)
class Post:
    """A comment, or a submission, which begins a thread.

    :param name: Reddit's full name: ``t1_`` and the id of a comment, or ``t3_`` and the id of a submission.
    :param parent: full name of the post that a comment answers; None for a submission.
    :param thread: full name of the thread's submission.
    :param text: as typed by the author, in Reddit's Markdown; for a submission its title, and its text if it has one.
    :param created: seconds since 1970.
    """

    name: str
    parent: str | None
    thread: str
    author: str
    subreddit: str
    text: str
    created: float


@dataclass(frozen=True)
class BadLine:
    """A line that is not a post. ``reason`` is one of a few fixed texts, ``detail`` says more."""

    reason: str
    detail: str = ""


class _Wrong(Exception):
    """An error that :func:`post_of_line` turns into a :class:`BadLine`."""


def post_of_line(line: bytes) -> Post | BadLine:
    """Return the post on a line, or why there is none. Never raises an error."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return BadLine("not UTF-8", error.reason)
    except (ValueError, RecursionError) as error:  # Python also rejects some valid JSON, such as very long numbers
        return BadLine("not JSON", str(error).split(":")[0])
    if not isinstance(record, dict):
        return BadLine("no object", type(record).__name__)
    try:
        return _submission(record) if "title" in record else _comment(record)
    except _Wrong as wrong:
        return BadLine(*wrong.args)


def _comment(record: dict[str, Any]) -> Post:
    return Post(
        name="t1_" + _matching(record, "id", _ID),
        parent=_matching(record, "parent_id", _FULL_NAME),
        thread=_matching(record, "link_id", _FULL_NAME),
        author=_author(record),
        subreddit=_text(record, "subreddit"),
        text=_text(record, "body"),
        created=_created(record),
    )


def _submission(record: dict[str, Any]) -> Post:
    name = "t3_" + _matching(record, "id", _ID)
    more = "" if record.get("selftext") is None else _text(record, "selftext")
    return Post(
        name=name,
        parent=None,
        thread=name,
        author=_author(record),
        subreddit=_text(record, "subreddit"),
        text=_text(record, "title") + ("\n" + more if more else ""),
        created=_created(record),
    )


def _field(record: dict[str, Any], name: str) -> Any:
    if name not in record:
        raise _Wrong("missing field", name)
    return record[name]


def _text(record: dict[str, Any], name: str) -> str:
    value = _field(record, name)
    if not isinstance(value, str):
        raise _Wrong("wrong type", f"{name} is {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:  # an unpaired surrogate from a \u escape, which could not be saved
        raise _Wrong("not UTF-8", f"{name}: {error.reason}") from error
    return value


def _matching(record: dict[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = _text(record, name)
    if not pattern.fullmatch(value):
        raise _Wrong("wrong type", f"{name} is not a Reddit name")
    return value


def _author(record: dict[str, Any]) -> str:
    return "[deleted]" if record.get("author") is None else _text(record, "author")


def _created(record: dict[str, Any]) -> float:
    value = _field(record, "created_utc")
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong("wrong type", f"created_utc is {_kind(value)}")
    if not 0 <= value < _LATEST:  # also rejects NaN and infinity
        raise _Wrong("wrong type", "created_utc is not a time")
    return float(value)


def _kind(value: Any) -> str:
    return _KINDS[type(value)]
