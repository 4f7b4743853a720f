"""HUMOD's official file: tab-separated, one row per rater.

A row has a context, a reply, the reply's relevance according to the rater, and the reply that the rater would have
given. Columns are found by the header's names. The turns of a context may be separated by tabs too: then a row has an
additional field for each turn after the first. A few rows lack the tab before their last number, or spell a text
differently from the other two rows of their pair; both are corrected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import NoReturn

from parlai_empathy.errors import DataError, shown
from parlai_empathy.tasks.humod.records import SCALE, Pair, Place, decode, words

COLUMNS = ("Dialogue Context", "Reply", "User Relevance Score", "User Reply")
"""The required columns."""

_NUMBER = ("dialogue id", "pair id", "id")
_KINDS = {"0": True, "1": False}
_SPEAKER = re.compile(r"Speaker\s*\d+\s*:")
_TEXT_AND_NUMBER = re.compile(r"(.*\S)\s+(\d+)")


@dataclass(frozen=True)
class Header:
    """The positions of the columns.

    :param names: names as in the file.
    :param keys: names in lower case, with spaces; all different.
    :param number: the pair's number; None in copies that lack it.
    :param kind: 0 for the original reply, 1 for a random one: the column ``label``, or the one after the reply; None in
        copies that lack it.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    context: int
    reply: int
    rating: int
    human_reply: int
    number: int | None
    kind: int | None

    @property
    def further(self) -> list[int]:
        """The other columns."""
        known = {self.context, self.reply, self.rating, self.human_reply, self.number, self.kind}
        return [place for place in range(len(self.keys)) if place not in known]

    def name(self, index: int, fields: int) -> str:
        """Return the column of the ``index``-th of a row's ``fields``. Surplus fields belong to the context."""
        more = max(0, fields - len(self.names))
        return self.names[index if index < self.context else max(self.context, index - more)]


def read_header(place: Place, line: bytes) -> Header:
    """Parse the first line. Raises :class:`DataError` if a required column is missing."""
    text = decode(place, line, lambda before: before.count(b"\t") + 1)
    names = tuple(map(words, text.split("\t")))
    keys: list[str] = []
    for name in names:  # some copies have ``User_Relevance_Score``
        key = name.lower().replace("_", " ")
        keys.append(key if key not in keys else f"{key} {len(keys) + 1}")
    if missing := ", ".join(name for name in COLUMNS if name.lower() not in keys):
        raise DataError(
            f"{place.path}, line {place.line}: the header {shown(text)} lacks the column(s) {missing}: it should "
            f"be tab-separated and name {', '.join(COLUMNS)}"
        )
    context, reply, rating, human_reply = required = [keys.index(name.lower()) for name in COLUMNS]
    number = next((keys.index(name) for name in _NUMBER if name in keys), None)
    behind = reply + 1 if reply + 1 < len(keys) and reply + 1 not in (*required, number) else None
    kind = keys.index("label") if "label" in keys else behind
    return Header(names, tuple(keys), context, reply, rating, human_reply, number, kind)


@dataclass(frozen=True)
class Row:
    """One rater's row."""

    place: Place
    number: str
    context: tuple[str, ...]
    reply: str
    is_original: bool | None
    rating: int
    human_reply: str
    further: dict[str, str]


def read_row(place: Place, line: bytes, header: Header) -> Row:
    """Parse any other line. Raises :class:`DataError` if it is invalid."""
    count = line.count(b"\t") + 1
    text = decode(place, line, lambda before: header.name(before.count(b"\t"), count))
    fields = _fields(place, text.split("\t"), header)

    def wrong(column: int, reason: str) -> NoReturn:
        place.wrong(header.names[column], fields[column], reason)

    context, replies = _turns(fields[header.context]), _turns(fields[header.reply])
    if not any(context):
        wrong(header.context, "has no turns: a reply needs one before it")
    if not any(replies):
        wrong(header.reply, "is empty: there is nothing to rate")
    if len(replies) > 1:
        wrong(header.reply, "is more than one turn: is a tab missing?")
    if header.kind is not None and fields[header.kind].strip() not in _KINDS:
        wrong(
            header.kind,
            "is neither 0 (the original reply) nor 1 (a random one): check the number of tabs",
        )
    if (rating := fields[header.rating].strip()) not in map(str, SCALE):
        wrong(header.rating, "is not a rating: 1, 2, 3, 4 or 5 was expected")
    if header.number is not None and _SPEAKER.search(fields[header.number]):
        wrong(header.number, "holds a turn: is a tab missing?")
    return Row(
        place=place,
        number="" if header.number is None else words(fields[header.number]),
        context=context,
        reply=replies[0],
        is_original=None if header.kind is None else _KINDS[fields[header.kind].strip()],
        rating=int(rating),
        human_reply=words(fields[header.human_reply]),
        further={header.keys[column]: words(fields[column]) for column in header.further},
    )


def _turns(text: str) -> tuple[str, ...]:
    """Split a text into turns: at each ``Speaker n:``, or at tabs if there is none."""
    if _SPEAKER.search(text):
        before, *turns = _SPEAKER.split(text)
        return tuple(map(words, [before, *turns] if before.strip() else turns))
    return tuple(map(words, text.split("\t")))


def _fields(place: Place, fields: list[str], header: Header) -> list[str]:
    """Return one field per column. That of the context has tabs between its turns."""
    fields = _with_missing_tab(fields, header)
    more = len(fields) - len(header.names)
    if more < 0:
        found = f"is incomplete: {len(fields)} fields, expected {len(header.names)} separated by tabs"
        place.wrong(header.names[len(fields)], "\t".join(fields), found)
    first, last = header.context, header.context + more
    return [*fields[:first], "\t".join(fields[first : last + 1]), *fields[last + 1 :]]


def _with_missing_tab(fields: list[str], header: Header) -> list[str]:
    """Split the last field into a human reply and a number, if the tab between them is missing.

    Only rows that are otherwise invalid are changed. In the official order of the columns, a row's turns and its reply
    all begin with ``Speaker n:``. If a row has one field too few for its number of such fields, one of them would be in
    the column of the kind or of the rating.
    """
    beside = header.reply == header.context + 1 and header.reply + 1 in (header.kind, header.rating)
    last_but_one = header.human_reply == len(header.names) - 2
    context_turns = len(list(takewhile(lambda text: _SPEAKER.match(text.lstrip()), fields[header.context :])))
    if beside and last_but_one and context_turns > 1 and len(fields) - context_turns == len(header.names) - 3:
        both = _TEXT_AND_NUMBER.fullmatch(fields[-1].strip())
        return [*fields[:-1], *both.groups()] if both else fields
    return fields


def pair_key(row: Row) -> tuple[object, ...]:
    """Return the key by which the rows of a pair are grouped: its number, or else its words."""
    words = () if row.number else (*map(_letters, row.context), _letters(row.reply))
    return (row.number, row.is_original, *words)


def _letters(text: str) -> str:
    """Return the text without case and punctuation; unchanged if nothing would be left."""
    return re.sub(r"\W", "", text).lower() or text


def agreeing(row: Row, usual: tuple[tuple[str, ...], str]) -> Row:
    """Return the row if its texts match the most frequent ones of its pair, ignoring case and punctuation."""
    context, reply = usual
    if list(map(_letters, row.context)) != list(map(_letters, context)):
        row.place.wrong(COLUMNS[0], row.context, "differs from the context in other rows of the same pair")
    if _letters(row.reply) != _letters(reply):
        row.place.wrong(COLUMNS[1], row.reply, "differs from the reply in other rows of the same pair")
    return row


@dataclass(frozen=True)
class Before:
    """The previous pair: its last line, its context, and whether its reply may have been the original one."""

    line: int = 1
    context: tuple[str, ...] = ()
    is_original: bool = False


def pair_of(rows: list[Row], said: tuple[tuple[str, ...], str], before: Before, rows_were_lost: bool) -> Pair:
    """Return the pair of its raters' rows.

    If no column states its kind, the first pair of a context has the original reply, and the next one a random reply.

    :param said: the most frequent context and reply of the rows.
    :param rows_were_lost: whether invalid rows of the file were left out, perhaps some that determine the kind.
    :raises DataError: if the kind cannot be determined.
    """
    first, (context, reply), ratings = rows[0], said, tuple(row.rating for row in rows)
    is_original = first.is_original
    if is_original is None:
        is_original = not (before.is_original and before.context == context)
        if is_original and rows_were_lost and first.place.line - before.line > len(rows):
            told = f"may be original or random: rows left out before it would tell; its {len(rows)} row(s) are left out"
            first.place.wrong(COLUMNS[1], reply, told)
    return Pair(
        pair_id=first.number or f"line {first.place.line}",
        context=context,
        reply=reply,
        is_original=is_original,
        ratings=ratings,
        mean_rating=sum(ratings) / len(ratings),
        human_replies=tuple(row.human_reply for row in rows),
        raters=tuple(row.further for row in rows),
    )
