"""Files of ratings: one row says which rater gave which item which rating.

A ``.csv`` file with a header, or a ``.jsonl`` file with one object a line. The columns are ``item``, ``rater`` and
``rating``, and ``question`` where more than one thing was asked; further columns are passed over.
"""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError

REQUIRED = ("item", "rater", "rating")


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


def read_ratings(path: str | Path) -> Iterator[Rating]:
    """Read a file of ratings, in its order.

    :raises DataError: naming file, line, column and value: for a missing file or column, a line that cannot be read,
        a rating that is no number, or a rater who rates the same item twice.
    """
    path = Path(path)
    seen: dict[tuple[str, str, str], int] = {}
    for line, row in _rows(path):
        where = f"{path}, line {line}"
        missing = [name for name in REQUIRED if row.get(name) in (None, "")]
        if missing:
            raise DataError(f"{where}: {missing[0]} is missing: each row needs {', '.join(REQUIRED)}")
        key = (str(row["question"]) if row.get("question") is not None else "", str(row["item"]), str(row["rater"]))
        if key in seen:
            raise DataError(f"{where}, column rater: {key[2]!r} has already rated item {key[1]!r} in line {seen[key]}")
        seen[key] = line
        yield Rating(item=key[1], rater=key[2], question=key[0], rating=_number(where, row["rating"]))


def by_question(ratings: Iterator[Rating]) -> dict[str, dict[str, list[float]]]:
    """For each question each item's ratings, in the order of the file."""
    questions: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rating in ratings:
        questions[rating.question][rating.item].append(rating.rating)
    return {question: dict(items) for question, items in questions.items()}


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _json_rows(path, file) if path.suffix == ".jsonl" else _csv_rows(path, file)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): it should be a file of ratings") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 ({error.reason}): save the file as UTF-8") from error


def _csv_rows(path: Path, file: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(file, strict=True)
    try:
        missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
        if missing:
            raise DataError(
                f"{path}, line 1: the header lacks the column(s) {', '.join(missing)}: it should name "
                f"{', '.join(REQUIRED)}"
            )
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not CSV ({error}): check its quotes") from error


def _json_rows(path: Path, file: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(file, start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(f"{path}, line {number}: not JSON ({error.msg}): one object a line expected") from error
            if not isinstance(row, dict):
                raise DataError(f"{path}, line {number}: one JSON object a line expected")
            yield number, row


def _number(where: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where}, column rating: {value!r} is no number")
    return number
