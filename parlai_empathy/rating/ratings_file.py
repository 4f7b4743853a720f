"""Files of ratings: one row says which rater gave which item which rating.

A ``.csv`` file with a header, or a ``.jsonl`` file with one object a line. ``item``, ``rater`` and ``rating`` must be
there; an answer in the rater's own words has a ``text`` in place of the rating. What else is known of an answer:

``question``
    what was asked, where more than one thing was.
``system``, ``other``
    whose reply was rated. With ``other`` two systems were compared: the rating is 1 where ``system`` is better, 0 for
    a tie, -1 where ``other`` is better.
``seconds``
    that the rater spent on the page.
``check``
    the rating that was expected, where the item is a check of the rater's attention.
``study``
    which study the answer is of; items of different studies are different items.
``version``
    of the study: its replies may have changed since, so that items of different versions are different items too.
``kind``
    of the question: ``likert``, ``choice``, ``text`` or ``preference``; left out, or anything else, it follows from the
    other columns.
``side``
    where ``system`` stood when two were compared: ``left`` or ``right``.
``reply``
    what ``parlai score_responses`` calls the reply.
``other_reply``
    of comparisons, what it calls the second system's.
``excluded``
    why the rater was left out in the study.

Further columns are passed over.
"""

from __future__ import annotations

import csv
import io
import json
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import DataError
from parlai_empathy.files.text_file import has_half_characters, read_text
from parlai_empathy.rating.names import NOT_EXCLUDED
from parlai_empathy.rating.rating import KINDS, PREFERENCES, SIDES, Rating, Unit

REQUIRED = ("item", "rater", "rating")
NAMES = ("question", "system", "other", "study", "version", "kind", "side", "reply", "other_reply", "excluded")
COLUMNS = (*REQUIRED, *NAMES, "text", "seconds", "check")
"""All columns that are read; a header may name each of them once."""

Row = tuple[int, Callable[[], dict[str, Any]]]
"""A row's line, and what makes a record of it or raises what is wrong with it."""


def ratings_of(path: str | Path, scale: Sequence[float] | None = None, skip_bad_rows: bool = False) -> list[Rating]:
    """All ratings of a file; rows that cannot be right end the reading, or are reported and left out.

    Parameters and errors are those of :func:`read_ratings`.
    """
    bad_rows: list[DataError] | None = [] if skip_bad_rows else None
    ratings = list(read_ratings(path, scale, bad_rows))
    if bad_rows:
        logging.warning(f"{path}: left out {len(bad_rows)} bad row(s):")
        for error in bad_rows:
            logging.warning(f"  {error}")
    return ratings


def read_ratings(
    path: str | Path, scale: Sequence[float] | None = None, bad_rows: list[DataError] | None = None
) -> Iterator[Rating]:
    """Read a file of ratings, in its order.

    :param scale: all values that a rating can have, comparisons apart; None for any number.
    :param bad_rows: where errors of single rows are put, and the rows left out; None raises the first of them.
    :raises DataError: naming file, line, column and value: for a row that cannot be read, lacks a value, has a rating
        that is no number or not on the scale, or has a rater judge the same again. Whatever ``bad_rows`` is: for a file
        that is missing, is not UTF-8, lacks a column, or has quotes that do not match.
    """
    path = Path(path)
    text = read_text(path, "it should be a file of ratings")
    rows = _json_rows(path, text) if path.suffix.lower() == ".jsonl" else _csv_rows(path, text)
    lines: dict[tuple[str, str, Unit], int] = {}
    for line, record_of_row in rows:
        where = f"{path}, line {line}"
        try:
            rating = _rating(where, record_of_row(), scale)
            _check_first(where, rating, lines)
        except DataError as error:
            if bad_rows is None:
                raise DataError(f"{error} (or leave such rows out with --skip-bad-rows true)") from error
            bad_rows.append(error)
        else:
            lines[_key(rating)] = line
            yield rating


def by_question(ratings: Iterable[Rating]) -> dict[str, dict[str, list[float]]]:
    """For each question each item's ratings, in the order of the file: of replies that their item alone names.

    Texts, choices and checks are left out.

    :raises DataError: if the item does not say which reply was rated: if it has ratings of several systems or of
        several versions of a study, or comparisons of two systems.
    """
    questions: dict[str, dict[str, list[float]]] = {}
    systems: dict[tuple[str, str], tuple[str, ...]] = {}
    versions: dict[tuple[str, str], str] = {}
    for one in ratings:
        if one.rating is None or one.check is not None or one.kind == "choice":
            continue
        of = systems.setdefault((one.study, one.item), (one.system,))
        if one.other or of != (one.system,):
            several = (one.system, one.other) if one.other else (*of, one.system)
            raise DataError(
                f"item {one.item!r} is rated for {several[0]!r} and for {several[1]!r}, and its name alone does not "
                "say whose reply is meant: give each reply an item of its own, or take parlai ratings_report --items"
            )
        if (version := versions.setdefault((one.study, one.item), one.version)) != one.version:
            raise DataError(
                f"item {one.item!r} is rated in the versions {version!r} and {one.version!r} of the study, where it "
                "may be another reply: keep the rows of one version"
            )
        questions.setdefault(one.question, {}).setdefault(one.item, []).append(one.rating)
    return questions


def by_unit(ratings: Iterable[Rating]) -> dict[str, dict[Unit, list[float]]]:
    """For each question the ratings of each thing that was judged; of two systems, as their names are ordered.

    Texts, choices and checks are left out.
    """
    questions: dict[str, dict[Unit, list[float]]] = {}
    for one in map(Rating.oriented, ratings):
        if one.rating is not None and one.check is None and one.kind != "choice":
            questions.setdefault(one.question, {}).setdefault(one.unit, []).append(one.rating)
    return questions


# --- rows ------------------------------------------------------------------------------------------------------------


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for line, row in enumerate(text.split("\n"), start=1):  # nothing else ends a line: JSON may hold other separators
        if row.strip():
            yield line, partial(_of_json, f"{path}, line {line}", row)


def _of_json(where: str, row: str) -> dict[str, Any]:
    try:
        record = json.loads(row)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a number too long, or lists too deep"
        raise DataError(f"{where}: not JSON ({reason}): one object a line expected") from error
    if not isinstance(record, dict):
        raise DataError(f"{where}: {reprlib.repr(record)} is no JSON object: one a line expected")
    return record


def _csv_rows(path: Path, text: str) -> Iterator[Row]:
    rows = _cells(path, text)
    line, header = next(rows, (1, [""]))
    counts = Counter(header)
    if missing := [name for name in REQUIRED if not counts[name] and not (name == "rating" and counts["text"])]:
        raise DataError(
            f"{path}, line {line}: the header lacks the column(s) {', '.join(missing)}: it should be comma-separated "
            f"and name {', '.join(REQUIRED)}"
        )
    if twice := [name for name in COLUMNS if counts[name] > 1]:
        raise DataError(f"{path}, line {line}: the header names {', '.join(twice)} more than once: rename the others")
    for line, cells in rows:
        yield line, partial(_of_cells, f"{path}, line {line}", cells, header)


def _cells(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file that are not empty, each with the number of the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"{path}, line {line}: not CSV ({error}): check its quotes") from error
        if any(cells):
            yield line, cells


def _of_cells(where: str, cells: list[str], header: list[str]) -> dict[str, Any]:
    if len(cells) != len(header):
        raise DataError(f"{where}: {len(cells)} cells, expected {len(header)} as in the header: check its commas")
    return dict(zip(header, cells, strict=True))


# --- values ----------------------------------------------------------------------------------------------------------


def _rating(where: str, record: dict[str, Any], scale: Sequence[float] | None) -> Rating:
    is_text = _is_empty(record.get("rating")) and not _is_empty(record.get("text"))
    for column in REQUIRED:
        if _is_empty(record.get(column)) and not (column == "rating" and is_text):
            raise DataError(f"{where}, column {column}: nothing is there: each row needs {', '.join(REQUIRED)}")
    if isinstance(record.get("excluded"), bool):
        record = {**record, "excluded": str(record["excluded"])}  # as CSV has it
    names = {column: _name(where, column, record.get(column)) for column in ("item", "rater", *NAMES, "text")}
    if names["other"] and names["other"] == names["system"]:
        raise DataError(f"{where}, column other: {names['other']!r} is compared with itself: name two systems")
    names["kind"] = names["kind"] if names["kind"] in KINDS else ""
    names["side"] = names["side"] if names["side"] in SIDES else ""
    names["excluded"] = "" if names["excluded"].lower() in NOT_EXCLUDED else names["excluded"]
    values = _values(names, scale)
    return Rating(
        rating=None if is_text else _number(where, "rating", record["rating"], values),
        seconds=_seconds(where, record.get("seconds")),
        check=None if _is_empty(record.get("check")) else _number(where, "check", record["check"], values),
        **names,
    )


def _values(names: dict[str, str], scale: Sequence[float] | None) -> Sequence[float] | None:
    """What a rating can be."""
    if names["kind"] == "choice":
        return None
    return PREFERENCES if names["other"] and names["kind"] in ("", "preference") else scale


def _is_empty(value: object) -> bool:
    return value is None or not str(value).strip()


def _seconds(where: str, value: object) -> float | None:
    if _is_empty(value):
        return None
    seconds = _number(where, "seconds", value, None)
    if seconds < 0:
        raise DataError(f"{where}, column seconds: {reprlib.repr(value)} is less than nothing")
    return seconds


def _name(where: str, column: str, value: object) -> str:
    """A text without the spaces round it; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is neither a text nor a number")
    text = str(value).strip()
    if has_half_characters(text):
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} has half a character")
    return text


def _number(where: str, column: str, value: object, scale: Sequence[float] | None) -> float:
    number = math.nan
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number) or "_" in str(value):  # Python reads 4_3 as 43
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is no number")
    if scale is not None and number not in scale:
        known = ", ".join(f"{one:g}" for one in scale)
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is not on the scale {known}")
    return number


def _key(rating: Rating) -> tuple[str, str, Unit]:
    """What no other row may have."""
    return rating.question, rating.rater, rating.unit


def _check_first(where: str, rating: Rating, lines: dict[tuple[str, str, Unit], int]) -> None:
    """See that it is the rater's first answer of this kind."""
    if line := lines.get(_key(rating)):
        of = f" of {rating.system!r}" if rating.system else ""
        asked = f" for question {rating.question!r}" if rating.question else ""
        raise DataError(
            f"{where}, column rater: {rating.rater!r} has already rated item {rating.item!r}{of}{asked}, in line {line}"
        )
