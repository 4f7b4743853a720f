"""Logs with one record per line: JSON lines and CSV with documented names, and ParlAI's logs of conversations."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import DataError, shown
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs_text import printed_list

Lines = Iterator[tuple[int, str]]

_FIELDS = ("reply", "context", "reference", "references", "emotion", "system", "turn", "item", "no_answer")
_NAMES = "reply, and optionally context, reference or references, emotion, system, turn, item, no_answer"
_LIST = re.compile(r"\s*\[[\s\[]*[\"']")  # what begins like a list of texts; others, like [laughs], are texts
_TURN = re.compile(r"[1-9][0-9]{0,8}(?=(\.0)?$)")  # libraries for tables write 3 as 3.0 if other rows have none


def read_json_lines(lines: Lines, path: Path) -> Iterator[LoggedReply]:
    """Read one object per line: a reply with its fields, or else a conversation logged by ParlAI (``dialog``).

    Conversations with people who were excluded from a chat study are left out.

    :raises DataError: if a line is not such an object.
    """
    names: dict[str, None] = {}
    left_out = 0
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: not a complete JSON object ({error}): is the file truncated?") from error
        if not isinstance(record, dict):
            raise DataError(f"{where}: {line.strip()[:40]!r} is not a JSON object: expected one with {_NAMES}")
        if "dialog" in record and "reply" not in record:  # DailyDialog on the hub has such a column too
            if record.get("excluded"):  # a conversation with somebody who was excluded from a chat study
                left_out += 1
            else:
                yield from _conversation(record, number, where)
        else:
            names.update(dict.fromkeys(record))
            yield _record(record, number, where)
    if left_out:
        logging.info(f"{path}: left out {left_out} conversation(s) with people who were excluded")
    _warn_of_names(names, path)


def read_csv(lines: Lines, path: Path, delimiter: str) -> Iterator[LoggedReply]:
    """Read a table whose first row names the columns.

    :raises DataError: if there is no column ``reply``, a column is named twice, or a row has more or fewer fields than
        the first.
    """
    reached = 1  # csv's own line number lags behind in a broken row

    def texts() -> Iterator[str]:
        nonlocal reached
        for reached, line in lines:  # noqa: B007
            yield line

    blank: list[LoggedReply] = []  # left out after the last row, where spreadsheets add such rows
    reader = csv.DictReader(texts(), delimiter=delimiter, strict=True)
    try:
        header = list(reader.fieldnames or ())
        _check_header(header, path, delimiter)
        for row in reader:
            where = f"{path}, line {reached}"
            if None in row or None in row.values():
                raise DataError(f"{where}: more or fewer fields than the header's {len(header)}")
            record = _record({key: _unpacked(key, text, where) for key, text in row.items()}, reached, where)
            if len(header) > 1 and not any(text.strip() for text in row.values()):
                blank.append(record)
                continue
            yield from blank
            blank.clear()
            yield record
    except csv.Error as error:
        raise DataError(f"{path}, line {reached}: not a valid table row ({error})") from error


def _check_header(header: Sequence[str], path: Path, delimiter: str) -> None:
    if "reply" not in header:
        found = " ".join(", ".join(header).split())[:160] or "nothing"  # a cell may have line breaks
        mark = "tabs" if delimiter == "\t" else "commas"
        raise DataError(f"{path}, line 1: no column reply; found: {found}; expected {_NAMES}, separated by {mark}")
    if twice := [name for name in _FIELDS if header.count(name) > 1]:
        raise DataError(f"{path}, line 1: the header names {', '.join(twice)} more than once: rename the others")
    _warn_of_names(header, path)


def _warn_of_names(names: Iterable[str], path: Path) -> None:
    """Warn of ignored fields whose names differ from a known one only in case or blanks."""
    meant = {name: name.strip().lower() for name in names if name not in _FIELDS}
    near = [f"{shown(name)} (write {field})" for name, field in meant.items() if field in _FIELDS]
    if near:
        logging.warning(f"{path}: ignored fields: {', '.join(near)}")


def _unpacked(column: str, text: str, where: str) -> Any:
    """Return a column's value: a list, if it may be one and is written so; None for an empty field but the reply."""
    if column in ("context", "reference", "references") and text.lstrip().startswith("["):
        found = _json_list(text) or _python_list(text.strip())
        if found is None and _LIST.match(text):
            raise DataError(f"{where}: {column} is {text[:40]!r}, expected a list of texts as JSON or Python writes it")
        return text if found is None else found
    return text if text or column == "reply" else None


def _json_list(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _python_list(text: str) -> list[Any] | None:
    """Return a list that Python printed. Other libraries leave out the commas, so that Python would join the texts."""
    found = printed_list(text)
    return found if "".join(repr(found).split()) == "".join(text.split()) else None


def _record(record: Mapping[str, Any], number: int, where: str) -> LoggedReply:
    reply, no_answer = record.get("reply"), _text(record, "no_answer", where)
    if reply is None and no_answer:
        reply = ""
    if not isinstance(reply, str):
        raise DataError(f"{where}: {'no reply' if reply is None else 'reply is not a text'}: expected {_NAMES}")
    references = [*_texts(record, "reference", where), *_texts(record, "references", where)]
    return LoggedReply(
        reply.strip(),
        tuple(_context(record, where)),
        tuple(references),
        _text(record, "emotion", where) or None,
        _text(record, "system", where),
        _item(record, where),
        no_answer,
        number,
        turn=_turn(record, where),
    )


def _context(record: Mapping[str, Any], where: str) -> list[str]:
    """Return the turns before a reply: a text has one per line; in a list each text is one, whatever its lines."""
    if isinstance(record.get("context"), str):
        return _turns(_text(record, "context", where))
    return [" ".join(_turns(text)) for text in _texts(record, "context", where)]


def _texts(record: Mapping[str, Any], name: str, where: str) -> list[str]:
    """Return the field's text or list of texts as a list, without blank ones; empty if it is missing or null."""
    value = record.get(name)
    texts = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: {name} is {value!r:.40}, expected a text or a list of texts")
    return [text.strip() for text in texts if text.strip()]


def _text(record: Mapping[str, Any], name: str, where: str) -> str:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise DataError(f"{where}: {name} is {value!r:.40}, expected a text")
    return (value or "").strip()


def _item(record: Mapping[str, Any], where: str) -> str:
    """Return the reply's name in ratings, given as a text or a number."""
    value = record.get("item")
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else _text(record, "item", where)


def _turn(record: Mapping[str, Any], where: str) -> int | None:
    """Return the reply's turn in its conversation, given as a number or a text."""
    value = record.get("turn")
    turn = _as_turn(value)
    if value is not None and turn is None:
        raise DataError(f"{where}: turn is {value!r:.40}, expected a whole number from 1")
    return turn


def _as_turn(value: Any) -> int | None:
    found = _TURN.match(str(value).strip())
    return int(found[0]) if found else None


def _turns(text: str) -> list[str]:
    return [turn.strip() for turn in text.split("\n") if turn.strip()]


def _conversation(record: Mapping[str, Any], number: int, where: str) -> Iterator[LoggedReply]:
    """Yield the second message of each pair as a reply to the first, with all earlier pairs as context.

    If the log has the true reply (``eval_labels``, ``labels``), it is the reference, and it takes the reply's place in
    the context of later turns, as ParlAI's agents see it in an evaluation. A conversation of ``parlai chat_site`` also
    names the system, and its replies get the names that their ratings have there. The turn of a reply is that of its
    own message, or else that of the first one, where our tasks put it.
    """
    context: list[str] = []
    talk = _item(record, where)
    for turn, pair in enumerate(_pairs(record["dialog"], where), start=1):
        place = f"{where}, pair {turn}"
        asked, answered = pair
        context += _turns(_text(asked, "text", place))
        references = _texts(asked, "eval_labels", place) or _texts(asked, "labels", place)
        reply = _text(answered, "text", place)
        emotion = _text(asked, "emotion", place) or None
        no_answer = _text(answered, "no_answer", place)
        candidates = asked.get("label_candidates")
        is_candidate = isinstance(candidates, list) and answered.get("text") in candidates
        yield LoggedReply(
            reply,
            tuple(context),
            tuple(references),
            emotion,
            _text(record, "system", where),
            f"{talk}#{answered['turn']}" if talk and "turn" in answered else "",
            no_answer=no_answer,
            line=number,
            is_candidate=is_candidate,
            turn=_as_turn(answered.get("turn")) or _as_turn(asked.get("turn")),
        )
        context += _turns(references[0] if references else reply)


def _pairs(dialog: Any, where: str) -> list[list[dict[str, Any]]]:
    pairs = dialog if isinstance(dialog, list) else [dialog]
    for place, pair in enumerate(pairs, start=1):
        messages = pair if isinstance(pair, list) else []
        if len(messages) != 2 or not all(isinstance(message, dict) for message in messages):
            raise DataError(f"{where}: pair {place} of the conversation is not a pair of messages")
    return pairs
