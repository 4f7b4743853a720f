"""HUMOD's official file: tab-separated, one row a rater.

A row holds a context, a reply, how relevant the rater found it, and what the rater would have said instead. Columns are
taken by the header's names, but the turns of a context may be separated by tabs too, so that a row has as many fields
more as its context has turns more than one. A few rows are known to lack the tab before their last number, or to spell
a text otherwise than their two companions: both are put right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import NoReturn

from parlai_empathy.errors import DataError, shown
from parlai_empathy.tasks.humod.records import SCALE, Pair, Place, decode, words

COLUMNS = ("Dialogue Context", "Reply", "User Relevance Score", "User Reply")
"""Those that the header must have."""

_NUMBER = ("dialogue id", "pair id", "id")
_KINDS = {"0": True, "1": False}
_SPEAKER = re.compile(r"Speaker\s*\d+\s*:")
_TEXT_AND_NUMBER = re.compile(r"(.*\S)\s+(\d+)")


@dataclass(frozen=True)
class Header:
    """The columns, by their places.

    :param names: as the file has them.
    :param keys: in lower case, with spaces; all different.
    :param number: the pair's number. Some copies lack it.
    :param kind: 0 for the original reply, 1 for a random one: ``label``, or what stands behind the reply. Likewise.
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
        """The columns that are none of these."""
        known = {self.context, self.reply, self.rating, self.human_reply, self.number, self.kind}
        return [place for place in range(len(self.keys)) if place not in known]

    def name(self, index: int, fields: int) -> str | int:
        """The column of the ``index``-th of a row's ``fields``: the context's has all that the others leave."""
        more = max(0, fields - len(self.names))
        place = index if index < self.context else max(self.context, index - more)
        return self.names[place] if place < len(self.names) else index + 1


def read_header(place: Place, line: bytes) -> Header:
    """The first line. Raises :class:`DataError` if a column is missing that must be there."""
    text = decode(place, line, lambda before: before.count(b"\t") + 1)
    names = tuple(map(words, text.split("\t")))
    keys: list[str] = []
    for name in names:  # copies write ``User_Relevance_Score`` as well
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
    """One rater's line."""

    place: Place
    number: str
    context: tuple[str, ...]
    reply: str
    is_original: bool | None
    rating: int
    human_reply: str
    further: dict[str, str]


def read_row(place: Place, line: bytes, header: Header) -> Row:
    """Another line. Raises :class:`DataError` if it cannot be right."""
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
            "is neither 0 (the original reply) nor 1 (a random one): are there as many tabs as there should be?",
        )
    if (rating := fields[header.rating].strip()) not in map(str, SCALE):
        wrong(header.rating, "is no rating: 1, 2, 3, 4 or 5 was expected")
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
    """Each ``Speaker n:`` begins a turn; without any, each field is one."""
    if _SPEAKER.search(text):
        before, *turns = _SPEAKER.split(text)
        return tuple(map(words, [before, *turns] if before.strip() else turns))
    return tuple(map(words, text.split("\t")))


def _fields(place: Place, fields: list[str], header: Header) -> list[str]:
    """One field a column; the context's holds the tabs between its turns."""
    fields = _with_missing_tab(fields, header)
    more = len(fields) - len(header.names)
    if more < 0:
        found = f"is all there is: {len(fields)} fields, expected {len(header.names)} with tabs between"
        place.wrong(header.names[len(fields)], "\t".join(fields), found)
    first, last = header.context, header.context + more
    return [*fields[:first], "\t".join(fields[first : last + 1]), *fields[last + 1 :]]


def _with_missing_tab(fields: list[str], header: Header) -> list[str]:
    """Take a human reply and the number behind it apart, where they share the last field for want of a tab.

    Done only to rows that cannot be right as they stand. In the official order of the columns a row's turns and its
    reply all begin with ``Speaker n:``, and if a row has one field too few for so many turns, then a spoken line would
    have to be its kind or its rating.
    """
    beside = header.reply == header.context + 1 and header.reply + 1 in (header.kind, header.rating)
    last_but_one = header.human_reply == len(header.names) - 2
    spoken = len(list(takewhile(lambda text: _SPEAKER.match(text.lstrip()), fields[header.context :])))
    if beside and last_but_one and spoken > 1 and len(fields) - spoken == len(header.names) - 3:
        both = _TEXT_AND_NUMBER.fullmatch(fields[-1].strip())
        return [*fields[:-1], *both.groups()] if both else fields
    return fields


def pair_key(row: Row) -> tuple[object, ...]:
    """What the rows of one pair have in common: its number, or else its words."""
    words = () if row.number else (*map(_letters, row.context), _letters(row.reply))
    return (row.number, row.is_original, *words)


def _letters(text: str) -> str:
    """What is left of a text without its punctuation, if anything is."""
    return re.sub(r"\W", "", text).lower() or text


def agreeing(row: Row, usual: tuple[tuple[str, ...], str]) -> Row:
    """The row, if its texts differ in no letter from what most rows of its pair have."""
    context, reply = usual
    if list(map(_letters, row.context)) != list(map(_letters, context)):
        row.place.wrong(COLUMNS[0], row.context, "is another context than other rows of the same pair have")
    if _letters(row.reply) != _letters(reply):
        row.place.wrong(COLUMNS[1], row.reply, "is another reply than other rows of the same pair have")
    return row


@dataclass(frozen=True)
class Before:
    """The pair before: its last line, and whether it can have been the one with the original reply to its context."""

    line: int = 1
    context: tuple[str, ...] = ()
    is_original: bool = False


def pair_of(rows: list[Row], said: tuple[tuple[str, ...], str], before: Before, rows_were_lost: bool) -> Pair:
    """The pair of its raters' rows.

    Where no column tells its kind, the first pair of a context has the original reply and the next one a random one.

    :param said: context and reply, as most of the rows have them.
    :param rows_were_lost: whether bad rows were left out of the file, and with them perhaps what tells the kind.
    :raises DataError: if the kind cannot be known.
    """
    first, (context, reply), ratings = rows[0], said, tuple(row.rating for row in rows)
    is_original = first.is_original
    if is_original is None:
        is_original = not (before.is_original and before.context == context)
        if is_original and rows_were_lost and first.place.line - before.line > len(rows):
            told = f"may be original or random: what tells was left out before it (with it go {len(rows)} row(s))"
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
