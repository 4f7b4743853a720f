"""Files of ratings: one row says which rater gave which item which rating.

A ``.csv`` file with a header, or a ``.jsonl`` file with one object a line. The columns are ``item``, ``rater`` and
``rating``, and ``question`` where more than one thing was asked; further columns are passed over.
"""

from __future__ import annotations

import csv
import io
import json
import math
import reprlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import DataError

REQUIRED = ("item", "rater", "rating")
QUESTION = "question"

Row = tuple[int, Callable[[], dict[str, Any]]]
"""A row's line, and what makes a record of it or raises what is wrong with it."""


@dataclass(frozen=True)
class Rating:
    """One answer.

    :param item: what was rated.
    :param question: what was asked of it; empty where the file has but one question.
    """

    item: str
    rater: str
    question: str
    rating: float


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

    :param scale: all values that a rating can have; None for any number.
    :param bad_rows: where errors of single rows are put, and the rows left out; None raises the first of them.
    :raises DataError: naming file, line, column and value: for a row that cannot be read, lacks a value, has a rating
        that is no number or not on the scale, or has a rater rate an item again. Whatever ``bad_rows`` is: for a file
        that is missing, is not UTF-8, lacks a column, or has quotes that do not match.
    """
    path = Path(path)
    text = _text(path)
    rows = _json_rows(path, text) if path.suffix.lower() == ".jsonl" else _csv_rows(path, text)
    lines: dict[tuple[str, str, str], int] = {}
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
            lines[rating.question, rating.item, rating.rater] = line
            yield rating


def by_question(ratings: Iterable[Rating]) -> dict[str, dict[str, list[float]]]:
    """For each question each item's ratings, in the order of the file."""
    questions: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rating in ratings:
        questions[rating.question][rating.item].append(rating.rating)
    return {question: dict(items) for question, items in questions.items()}


# --- rows ------------------------------------------------------------------------------------------------------------


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): it should be a file of ratings") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        wrong = error.object[error.start : error.end]
        raise DataError(f"{path}, line {line}: {wrong!r} is not UTF-8: save the file as UTF-8") from error


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
    if missing := [name for name in REQUIRED if not counts[name]]:
        raise DataError(
            f"{path}, line {line}: the header lacks the column(s) {', '.join(missing)}: it should be comma-separated "
            f"and name {', '.join(REQUIRED)}"
        )
    if twice := [name for name in (*REQUIRED, QUESTION) if counts[name] > 1]:
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
    for column in REQUIRED:
        if record.get(column) is None or not str(record[column]).strip():
            raise DataError(f"{where}, column {column}: nothing is there: each row needs {', '.join(REQUIRED)}")
    item, rater = (_name(where, column, record[column]) for column in ("item", "rater"))
    question = "" if record.get(QUESTION) is None else _name(where, QUESTION, record[QUESTION])
    return Rating(item, rater, question, _number(where, record["rating"], scale))


def _name(where: str, column: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is neither a text nor a number")
    text = str(value).strip()
    try:
        text.encode()  # JSON can spell halves of characters, which nobody could print
    except UnicodeEncodeError as error:
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} has half a character") from error
    return text


def _number(where: str, value: object, scale: Sequence[float] | None) -> float:
    number = math.nan
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number) or "_" in str(value):  # Python reads 4_3 as 43
        raise DataError(f"{where}, column rating: {reprlib.repr(value)} is no number")
    if scale is not None and number not in scale:
        known = ", ".join(f"{one:g}" for one in scale)
        raise DataError(f"{where}, column rating: {reprlib.repr(value)} is not on the scale {known}")
    return number


def _check_first(where: str, rating: Rating, lines: dict[tuple[str, str, str], int]) -> None:
    """See that it is the rater's first rating of the item for this question."""
    if line := lines.get((rating.question, rating.item, rating.rater)):
        asked = f" for question {rating.question!r}" if rating.question else ""
        raise DataError(
            f"{where}, column rater: {rating.rater!r} has already rated item {rating.item!r}{asked}, in line {line}"
        )
