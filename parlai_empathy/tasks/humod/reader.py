"""Reading HUMOD: the official tab-separated file, and JSON lines with the same content.

The official file has one row a rater: a context, a reply, how relevant the rater found it, and what the rater would
have said instead. Columns are taken by the header's names, but the turns of a context may be separated by tabs too, so
that a row has as many fields more as its context has turns more than one. A few of its rows are known to lack the tab
before their last number, or to spell a text otherwise than their two companions: both are put right.

A file whose name ends in ``.jsonl`` has one object a pair: ``id``, ``context`` (one turn a line, or a list), ``reply``,
``reply_kind`` (``original`` or ``random_distractor``), ``human_replies``, and ``human_relevance_mean`` (1..5, or null)
or ``ratings`` (a list of 1..5).
"""

from __future__ import annotations

import json
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

from parlai_empathy.errors import DataError

SCALE = (1, 2, 3, 4, 5)
"""The ratings: 1 is irrelevant, 5 is relevant (Merdivan et al. 2020, section 3)."""

COLUMNS = ("Dialogue Context", "Reply", "User Relevance Score", "User Reply")
"""Those that the official file's header must have."""

_NUMBER = ("dialogue id", "pair id", "id")
_KINDS = {"0": True, "1": False}
_JSON_KINDS = {"original": True, "random_distractor": False}
_SPEAKER = re.compile(r"Speaker\s*\d+\s*:")
_TEXT_AND_NUMBER = re.compile(r"(.*\S)\s+(\d+)")

_shown = reprlib.Repr()  # of values in messages: one line, and not too long a one
_shown.maxstring = _shown.maxother = 60

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Pair:
    """A context with one reply, and what people said of it. Runs of white space in its texts are single spaces.

    :param pair_id: the file's name of it.
    :param context: the turns before the reply, oldest first, two speakers by turns. Where one of them says nothing, the
        turn is empty; not all of them are.
    :param is_original: whether the film goes on with this reply; else it was drawn at random.
    :param ratings: each rater's relevance, 1..5; empty where the file does not tell.
    :param mean_rating: their mean, 1..5; None for a pair that is not rated in this file.
    :param human_replies: what each rater would have said, one a rater; empty ones too.
    :param raters: for each of ``ratings`` the file's further columns, by their names in lower case.
    """

    pair_id: str
    context: tuple[str, ...]
    reply: str
    is_original: bool
    ratings: tuple[int, ...]
    mean_rating: float | None
    human_replies: tuple[str, ...]
    raters: tuple[dict[str, str], ...] = field(default=(), hash=False)


@dataclass(frozen=True)
class _Place:
    """A line of a file, for messages."""

    path: Path
    line: int

    def wrong(self, column: str | int, value: object, reason: str) -> NoReturn:
        raise DataError(f"{self.path}, line {self.line}, column {column}: {_shown.repr(value)} {reason}")


def read_humod(path: str | Path, bad_rows: list[DataError] | None = None) -> Iterator[Pair]:
    """Read a HUMOD file, in its order.

    :param bad_rows: where errors of single lines are put, and the lines left out; None raises the first of them.
    :raises DataError: naming file, line, column and value, for a line that is not UTF-8 or has too few fields, a rating
        outside 1..5, a context without turns, or an empty reply. Whatever ``bad_rows`` is: naming the file, if it
        cannot be opened or its header cannot be right.
    """
    path = Path(path)
    lines = _lines(path)
    if path.suffix.lower() == ".jsonl":
        for place, line in lines:
            yield from _attempt(bad_rows, _pair_of_json, place, line)
        return
    header = _header(*next(lines, (_Place(path, 1), b"")))
    rows = (row for place, line in lines for row in _attempt(bad_rows, _row, place, line, header))
    before = _Before()
    for _, group in groupby(rows, key=_pair_key):
        members = list(group)
        ((usual, _),) = Counter((row.context, row.reply) for row in members).most_common(1)
        agreeing = [row for member in members for row in _attempt(bad_rows, _agreeing, member, usual)]
        pairs = list(_attempt(bad_rows, _pair, agreeing, usual, before, bool(bad_rows)))
        yield from pairs
        before = _Before(members[-1].place.line, usual[0], not pairs or pairs[0].is_original)


def _attempt(
    bad_rows: list[DataError] | None, make: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs
) -> Iterator[_T]:
    """What ``make`` makes of the arguments, or nothing and a further entry of ``bad_rows``."""
    try:
        made = make(*arguments, **named)
    except DataError as error:
        if bad_rows is None:
            raise DataError(f"{error} (or leave such rows out with --skip-bad-rows true)") from error
        bad_rows.append(error)
    else:
        yield made


def _lines(path: Path) -> Iterator[tuple[_Place, bytes]]:
    """The lines that are not blank."""
    try:
        # Bytes, because only "\n" ends a line: a text may hold other characters that Python would split at.
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): it should be a file of HUMOD") from error
    with file:
        yield from ((_Place(path, number), line) for number, line in enumerate(file, start=1) if line.strip())


def _decode(place: _Place, line: bytes, column: Callable[[bytes], str | int]) -> str:
    """:param column: says from a line's beginning which column it ends in."""
    try:
        return line.rstrip(b"\r\n").decode("utf-8-sig" if place.line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        before, behind = error.object[: error.start], error.object[error.start :]
        around = before.rpartition(b"\t")[2][-20:] + behind.partition(b"\t")[0][:20]
        place.wrong(column(before), around, "is not UTF-8: save the file as UTF-8")


def _words(text: str) -> str:
    return " ".join(text.split())


# --- the official file -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Header:
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


def _header(place: _Place, line: bytes) -> _Header:
    text = _decode(place, line, lambda before: before.count(b"\t") + 1)
    names = tuple(map(_words, text.split("\t")))
    keys: list[str] = []
    for name in names:  # copies write ``User_Relevance_Score`` as well
        key = name.lower().replace("_", " ")
        keys.append(key if key not in keys else f"{key} {len(keys) + 1}")
    if missing := ", ".join(name for name in COLUMNS if name.lower() not in keys):
        raise DataError(
            f"{place.path}, line {place.line}: the header {_shown.repr(text)} lacks the column(s) {missing}: it should "
            f"be tab-separated and name {', '.join(COLUMNS)}"
        )
    context, reply, rating, human_reply = required = [keys.index(name.lower()) for name in COLUMNS]
    number = next((keys.index(name) for name in _NUMBER if name in keys), None)
    behind = reply + 1 if reply + 1 < len(keys) and reply + 1 not in (*required, number) else None
    kind = keys.index("label") if "label" in keys else behind
    return _Header(names, tuple(keys), context, reply, rating, human_reply, number, kind)


@dataclass(frozen=True)
class _Row:
    """One rater's line."""

    place: _Place
    number: str
    context: tuple[str, ...]
    reply: str
    is_original: bool | None
    rating: int
    human_reply: str
    further: dict[str, str]


def _row(place: _Place, line: bytes, header: _Header) -> _Row:
    count = line.count(b"\t") + 1
    text = _decode(place, line, lambda before: header.name(before.count(b"\t"), count))
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
    return _Row(
        place=place,
        number="" if header.number is None else _words(fields[header.number]),
        context=context,
        reply=replies[0],
        is_original=None if header.kind is None else _KINDS[fields[header.kind].strip()],
        rating=int(rating),
        human_reply=_words(fields[header.human_reply]),
        further={header.keys[column]: _words(fields[column]) for column in header.further},
    )


def _turns(text: str) -> tuple[str, ...]:
    """Each ``Speaker n:`` begins a turn; without any, each field is one."""
    if _SPEAKER.search(text):
        before, *turns = _SPEAKER.split(text)
        return tuple(map(_words, [before, *turns] if before.strip() else turns))
    return tuple(map(_words, text.split("\t")))


def _fields(place: _Place, fields: list[str], header: _Header) -> list[str]:
    """One field a column; the context's holds the tabs between its turns."""
    fields = _with_missing_tab(fields, header)
    more = len(fields) - len(header.names)
    if more < 0:
        found = f"is all there is: {len(fields)} fields, expected {len(header.names)} with tabs between"
        place.wrong(header.names[len(fields)], "\t".join(fields), found)
    first, last = header.context, header.context + more
    return [*fields[:first], "\t".join(fields[first : last + 1]), *fields[last + 1 :]]


def _with_missing_tab(fields: list[str], header: _Header) -> list[str]:
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


def _pair_key(row: _Row) -> tuple[object, ...]:
    words = () if row.number else (*map(_letters, row.context), _letters(row.reply))
    return (row.number, row.is_original, *words)


def _letters(text: str) -> str:
    """What is left of a text without its punctuation, if anything is."""
    return re.sub(r"\W", "", text).lower() or text


def _agreeing(row: _Row, usual: tuple[tuple[str, ...], str]) -> _Row:
    """The row, if its texts differ in no letter from what most rows of its pair have."""
    context, reply = usual
    if list(map(_letters, row.context)) != list(map(_letters, context)):
        row.place.wrong(COLUMNS[0], row.context, "is another context than other rows of the same pair have")
    if _letters(row.reply) != _letters(reply):
        row.place.wrong(COLUMNS[1], row.reply, "is another reply than other rows of the same pair have")
    return row


@dataclass(frozen=True)
class _Before:
    """The pair before: its last line, and whether it can have been the one with the original reply to its context."""

    line: int = 1
    context: tuple[str, ...] = ()
    is_original: bool = False


def _pair(rows: list[_Row], said: tuple[tuple[str, ...], str], before: _Before, rows_were_lost: bool) -> Pair:
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


# --- JSON lines ------------------------------------------------------------------------------------------------------


def _pair_of_json(place: _Place, line: bytes) -> Pair:
    record = _record(place, line)
    kind, ratings, mean = record["reply_kind"], _ratings(place, record), _mean_rating(place, record)
    if not isinstance(kind, str) or kind not in _JSON_KINDS:
        place.wrong("reply_kind", kind, f"should be {' or '.join(_JSON_KINDS)}")
    if not (reply := _text(place, "reply", record["reply"])):
        place.wrong("reply", record["reply"], "is empty: there is nothing to rate")
    return Pair(
        pair_id=_name(place, record.get("id")),
        context=_context(place, record["context"]),
        reply=reply,
        is_original=_JSON_KINDS[kind],
        ratings=ratings,
        mean_rating=sum(ratings) / len(ratings) if ratings else mean,
        human_replies=_texts(place, "human_replies", record["human_replies"]),
        raters=tuple({} for _ in ratings),
    )


def _name(place: _Place, value: Any) -> str:
    if value is None:
        return f"line {place.line}"
    return str(value) if type(value) is int else _text(place, "id", value)


def _record(place: _Place, line: bytes) -> dict[str, Any]:
    text = _decode(place, line, lambda before: (re.findall(rb'"(\w+)"\s*:', before) or [b"1"])[-1].decode())
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:  # Python refuses some JSON as well, such as very long numbers
        reason = str(error).split(":")[0]
        place.wrong(getattr(error, "colno", 1), text, f"is not JSON ({reason}): one object a line was expected")
    if not isinstance(record, dict):
        place.wrong(1, record, "is no object: one a line was expected")
    needed = ["context", "reply", "reply_kind", "human_replies"]
    needed += [] if "ratings" in record else ["human_relevance_mean"]
    for name in needed:
        if name not in record:
            place.wrong(name, sorted(record), "is all that the object names: this one is missing")
    return record


def _text(place: _Place, column: str, value: Any) -> str:
    if not isinstance(value, str):
        place.wrong(column, value, "should be a text")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can write half a character, which no file or terminal takes
        place.wrong(column, value, "holds half a character: write \\u escapes in pairs, or the character itself")
    return _words(value)


def _texts(place: _Place, column: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        place.wrong(column, value, "should be a list of texts")
    return tuple(_text(place, column, text) for text in value)


def _context(place: _Place, value: Any) -> tuple[str, ...]:
    turns = _texts(place, "context", value.split("\n") if isinstance(value, str) else value)
    if not any(turns):
        place.wrong("context", value, "has no turns: a reply needs one before it")
    return turns


def _ratings(place: _Place, record: dict[str, Any]) -> tuple[int, ...]:
    ratings = [] if record.get("ratings") is None else record["ratings"]
    if not isinstance(ratings, list) or not all(type(rating) is int and rating in SCALE for rating in ratings):
        place.wrong("ratings", ratings, "should be a list of whole numbers from 1 to 5")
    return tuple(ratings)


def _mean_rating(place: _Place, record: dict[str, Any]) -> float | None:
    mean = record.get("human_relevance_mean")
    if mean is None:
        return None
    if not isinstance(mean, int | float) or isinstance(mean, bool) or not SCALE[0] <= mean <= SCALE[-1]:
        place.wrong("human_relevance_mean", mean, "is no rating: a number from 1 to 5, or null, was expected")
    return float(mean)
