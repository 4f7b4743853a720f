"""HUMOD as JSON lines: one object per pair.

Its fields are ``id``, ``context`` (a text with one turn per line, or a list), ``reply``, ``reply_kind`` (``original``
or ``random_distractor``), ``human_replies``, and ``human_relevance_mean`` (1..5, or null) or ``ratings`` (a list of
1..5).
"""

from __future__ import annotations

import json
import re
from typing import Any

from parlai_empathy.files.text_file import has_half_characters
from parlai_empathy.tasks.humod.records import SCALE, Pair, Place, decode, words

_KINDS = {"original": True, "random_distractor": False}


def pair_of_json(place: Place, line: bytes) -> Pair:
    """Return the pair on a line. Raises :class:`DataError` if it is invalid."""
    record = _record(place, line)
    kind, ratings, mean = record["reply_kind"], _ratings(place, record), _mean_rating(place, record)
    if not isinstance(kind, str) or kind not in _KINDS:
        place.wrong("reply_kind", kind, f"should be {' or '.join(_KINDS)}")
    if not (reply := _text(place, "reply", record["reply"])):
        place.wrong("reply", record["reply"], "is empty: there is nothing to rate")
    return Pair(
        pair_id=_name(place, record.get("id")),
        context=_context(place, record["context"]),
        reply=reply,
        is_original=_KINDS[kind],
        ratings=ratings,
        mean_rating=sum(ratings) / len(ratings) if ratings else mean,
        human_replies=_texts(place, "human_replies", record["human_replies"]),
        raters=tuple({} for _ in ratings),
    )


def _name(place: Place, value: Any) -> str:
    if value is None:
        return f"line {place.line}"
    return str(value) if type(value) is int else _text(place, "id", value)


def _record(place: Place, line: bytes) -> dict[str, Any]:
    text = decode(place, line, lambda before: (re.findall(rb'"(\w+)"\s*:', before) or [b"1"])[-1].decode())
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:  # Python also rejects some valid JSON, such as very long numbers
        reason = str(error).split(":")[0]
        place.wrong(getattr(error, "colno", 1), text, f"is not JSON ({reason}): one object per line was expected")
    if not isinstance(record, dict):
        place.wrong(1, record, "is not an object: one per line was expected")
    needed = ["context", "reply", "reply_kind", "human_replies"]
    needed += [] if "ratings" in record else ["human_relevance_mean"]
    for name in needed:
        if name not in record:
            place.wrong(name, sorted(record), "are the object's only fields: this one is missing")
    return record


def _text(place: Place, column: str, value: Any) -> str:
    if not isinstance(value, str):
        place.wrong(column, value, "should be a text")
    if has_half_characters(value):
        place.wrong(column, value, "holds half a character: write \\u escapes in pairs, or the character itself")
    return words(value)


def _texts(place: Place, column: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        place.wrong(column, value, "should be a list of texts")
    return tuple(_text(place, column, text) for text in value)


def _context(place: Place, value: Any) -> tuple[str, ...]:
    turns = _texts(place, "context", value.split("\n") if isinstance(value, str) else value)
    if not any(turns):
        place.wrong("context", value, "has no turns: a reply needs one before it")
    return turns


def _ratings(place: Place, record: dict[str, Any]) -> tuple[int, ...]:
    ratings = [] if record.get("ratings") is None else record["ratings"]
    if not isinstance(ratings, list) or not all(type(rating) is int and rating in SCALE for rating in ratings):
        place.wrong("ratings", ratings, "should be a list of whole numbers from 1 to 5")
    return tuple(ratings)


def _mean_rating(place: Place, record: dict[str, Any]) -> float | None:
    mean = record.get("human_relevance_mean")
    if mean is None:
        return None
    if not isinstance(mean, int | float) or isinstance(mean, bool) or not SCALE[0] <= mean <= SCALE[-1]:
        place.wrong("human_relevance_mean", mean, "is not a rating: a number from 1 to 5, or null, was expected")
    return float(mean)
