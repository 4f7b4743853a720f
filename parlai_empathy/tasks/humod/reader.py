"""Reading HUMOD: the official tab-separated file, and JSON lines with the same content.

The official file has one row a rater: a context, a reply, how relevant the rater found it, and what the rater would
have said instead. Columns are taken by the header's names, but the turns of a context are separated by tabs too, so a
row has as many fields more as its context has turns more than one. A few of its rows are known to lack a tab before
their last number, or to spell the reply otherwise than their two companions: both are put right.

A file whose name ends in ``.jsonl`` has one object a pair: ``id``, ``context`` (one turn a line, or a list), ``reply``,
``reply_kind`` (``original`` or ``random_distractor``), ``human_replies``, and ``human_relevance_mean`` (1..5, or null)
or ``ratings`` (a list of 1..5).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, NoReturn

from parlai_empathy.errors import DataError

SCALE = (1, 2, 3, 4, 5)
"""The ratings: 1 is irrelevant, 5 is relevant (Merdivan et al. 2020, section 3)."""

REQUIRED = ("dialogue context", "reply", "user relevance score", "user reply")
KINDS = {"0": True, "1": False, "original": True, "random_distractor": False}

_SPEAKER = re.compile(r"(?:^|\s)Speaker\s*\d+\s*:\s*")
_TWO_FIELDS = re.compile(r"(.*\S)\s+(\d+)")


@dataclass(frozen=True)
class Pair:
    """A context with one reply, and what people said of it.

    :param pair_id: the file's name of it.
    :param context: the turns before the reply, oldest first, two speakers by turns; at least one.
    :param is_original: whether the film goes on with this reply; else it was drawn at random.
    :param ratings: each rater's relevance, 1..5; empty where the file does not tell.
    :param mean_rating: their mean, 1..5; None for a pair that is not rated in this file.
    :param human_replies: what each rater would have said, one a rater.
    :param raters: for each rater the file's further columns, by their names in the header.
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
class _Row:
    """One rater's line of the official file."""

    line: int
    pair_id: str
    context: tuple[str, ...]
    reply: str
    is_original: bool | None
    rating: int
    human_reply: str
    further: dict[str, str]


@dataclass(frozen=True)
class _Place:
    """A line of a file, for messages."""

    path: Path
    line: int

    def wrong(self, column: str, value: object, reason: str) -> NoReturn:
        raise DataError(f"{self.path}, line {self.line}, column {column}: {value!r} {reason}")


def read_humod(path: str | Path, bad_rows: list[DataError] | None = None) -> Iterator[Pair]:
    """Read a HUMOD file, in its order.

    :param bad_rows: where errors of single lines are put, and the lines left out; None raises the first of them.
    :raises DataError: naming file, line, column and value, for a line that is not UTF-8 or has a wrong number of
        fields, a rating outside 1..5, a context without turns, or an empty reply. Whatever ``bad_rows`` is: naming the
        file, if it is missing or lacks a column.
    """
    path = Path(path)
    lines = _lines(path, bad_rows)
    if path.suffix == ".jsonl":
        for number, line in lines:
            yield from _attempt(bad_rows, _pair_of_json, _Place(path, number), line)
        return
    header = _header(path, next(lines, (1, ""))[1])
    rows = (row for number, line in lines for row in _attempt(bad_rows, _row, _Place(path, number), line, header))
    before: Pair | None = None
    for _, group in groupby(rows, key=_pair_key):
        members = list(group)
        for pair in _attempt(bad_rows, _pair_of_rows, _Place(path, members[0].line), members, before):
            yield (before := pair)


def _attempt(bad_rows: list[DataError] | None, make: Any, *arguments: Any) -> Iterator[Any]:
    """What ``make`` makes of the arguments, or nothing and a further entry of ``bad_rows``."""
    try:
        made = make(*arguments)
    except DataError as error:
        if bad_rows is None:
            raise DataError(f"{error} (or leave such rows out with --skip-bad-rows true)") from error
        bad_rows.append(error)
    else:
        yield made


def _lines(path: Path, bad_rows: list[DataError] | None) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, without their ends."""
    try:
        # Bytes, because only "\n" ends a line: a text may hold other characters that Python would split at.
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): it should be a file of HUMOD") from error
    with file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                for text in _attempt(bad_rows, _decode, _Place(path, number), line):
                    yield number, text.rstrip("\r\n")


def _decode(place: _Place, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if place.line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        column = line[: error.start].count(b"\t") + 1
        field = line.split(b"\t")[column - 1]
        place.wrong(str(column), field[:60], "is not UTF-8: save the file as UTF-8")


# --- the official file -----------------------------------------------------------------------------------------------


def _header(path: Path, line: str) -> list[str]:
    """The columns' names, lower-cased, with spaces: copies write ``User_Relevance_Score`` as well."""
    names = [name.strip().lower().replace("_", " ") for name in line.split("\t")]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise DataError(
            f"{path}, line 1: the header lacks the column(s) {', '.join(missing)}: it should be tab-separated and name "
            f"{', '.join(REQUIRED)}"
        )
    return names


def _row(place: _Place, line: str, header: list[str]) -> _Row:
    fields = _fields(place, line.split("\t"), header)
    context = tuple(turn.strip() for turn in _SPEAKER.sub("\t", fields["dialogue context"]).split("\t") if turn.strip())
    reply = _SPEAKER.sub(" ", fields["reply"]).strip()
    rating = fields["user relevance score"].strip()
    if not context:
        place.wrong("Dialogue Context", fields["dialogue context"], "has no turns: a reply needs something before it")
    if not reply:
        place.wrong("Reply", fields["reply"], "is empty: there is nothing to rate")
    if rating not in map(str, SCALE):
        place.wrong("User Relevance Score", rating, "is no rating: 1, 2, 3, 4 or 5 was expected")
    kind = _kind_column(header)
    if kind and fields[kind].strip() not in KINDS:
        place.wrong(kind.title(), fields[kind], "is neither 0 (the original reply) nor 1 (a random one)")
    return _Row(
        line=place.line,
        pair_id=fields[header[0]].strip() if header[0] not in REQUIRED else "",
        context=context,
        reply=reply,
        is_original=KINDS[fields[kind].strip()] if kind else None,
        rating=int(rating),
        human_reply=fields["user reply"].strip(),
        further={name: fields[name].strip() for name in header[1:] if name not in REQUIRED and name != kind},
    )


def _fields(place: _Place, fields: list[str], header: list[str]) -> dict[str, str]:
    """The fields by their columns' names; the context's column takes all that the others leave."""
    start = header.index("dialogue context")
    spoken = len(list(takewhile(_SPEAKER.match, fields[start:])))  # the context's turns and the reply
    from_human_reply = len(header) - header.index("user reply")
    if spoken > 1 and from_human_reply > 1 and len(fields) - spoken == len(header) - 2 - 1:  # one column is missing
        fields = _taken_apart(fields, len(fields) - from_human_reply + 1)
    more = len(fields) - len(header)
    if more < 0:
        raise DataError(
            f"{place.path}, line {place.line}: {len(fields)} fields, expected at least {len(header)}, with tabs between"
        )
    context = "\t".join(fields[start : start + more + 1])
    return dict(zip(header, [*fields[:start], context, *fields[start + more + 1 :]], strict=True))


def _taken_apart(fields: list[str], index: int) -> list[str]:
    """A human reply and the number behind it share a field, for want of a tab: take them apart."""
    both = _TWO_FIELDS.fullmatch(fields[index].strip())
    return [*fields[:index], *both.groups(), *fields[index + 1 :]] if both else fields


def _kind_column(header: list[str]) -> str | None:
    """The column behind the reply says whether it is the original one; some copies lack it."""
    behind = header[header.index("reply") + 1 :][:1]
    return behind[0] if behind and behind[0] not in REQUIRED else None


def _pair_key(row: _Row) -> tuple[object, ...]:
    return (row.pair_id, row.is_original) if row.pair_id else (*row.context, row.reply)


def _pair_of_rows(place: _Place, rows: list[_Row], before: Pair | None) -> Pair:
    """One pair. Where no column tells its kind, the first pair of a context has the original reply, the next not."""
    first = rows[0]
    follows = before is not None and before.context == first.context and before.is_original
    for row in rows[1:]:
        there = _Place(place.path, row.line)
        if row.context != first.context:
            there.wrong("Dialogue Context", row.context[-1], f"is another context than line {first.line} has")
        if _letters(row.reply) != _letters(first.reply):
            there.wrong("Reply", row.reply, f"is another reply than line {first.line} has for the same pair")
    ratings = tuple(row.rating for row in rows)
    return Pair(
        pair_id=first.pair_id or f"line {first.line}",
        context=first.context,
        reply=Counter(row.reply for row in rows).most_common(1)[0][0],
        is_original=not follows if first.is_original is None else first.is_original,
        ratings=ratings,
        mean_rating=sum(ratings) / len(ratings),
        human_replies=tuple(row.human_reply for row in rows),
        raters=tuple(row.further for row in rows),
    )


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text).lower()


# --- JSON lines ------------------------------------------------------------------------------------------------------


def _pair_of_json(place: _Place, line: str) -> Pair:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{place.path}, line {place.line}: not JSON ({error.msg}): one object a line expected"
        ) from error
    if not isinstance(record, dict):
        raise DataError(f"{place.path}, line {place.line}: one JSON object a line expected")
    context, replies = _context(place, record.get("context")), record.get("human_replies", [])
    reply, kind = record.get("reply"), record.get("reply_kind")
    if not _are_texts(replies):
        place.wrong("human_replies", replies, "should be a list of texts")
    if not isinstance(reply, str) or not reply.strip():
        place.wrong("reply", reply, "is empty: there is nothing to rate")
    if kind not in ("original", "random_distractor"):
        place.wrong("reply_kind", kind, "should be original or random_distractor")
    ratings = _ratings(place, record)
    return Pair(
        pair_id=str(record.get("id", f"line {place.line}")),
        context=context,
        reply=" ".join(reply.split()),
        is_original=KINDS[kind],
        ratings=ratings,
        mean_rating=sum(ratings) / len(ratings) if ratings else _mean_rating(place, record),
        human_replies=tuple(text.strip() for text in replies),
    )


def _context(place: _Place, value: Any) -> tuple[str, ...]:
    turns = value.split("\n") if isinstance(value, str) else value
    if not _are_texts(turns):
        place.wrong("context", value, "should be a text or a list of texts")
    context = tuple(turn.strip() for turn in turns if turn.strip())
    if not context:
        place.wrong("context", value, "has no turns: a reply needs something before it")
    return context


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _ratings(place: _Place, record: dict[str, Any]) -> tuple[int, ...]:
    ratings = record.get("ratings") or []
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
