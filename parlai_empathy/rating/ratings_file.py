"""Reading files of ratings: each row is one rating of one item by one rater.

A file is ``.csv`` with a header, or ``.jsonl`` with one object per line. ``item``, ``rater`` and ``rating`` are
required; an answer in the rater's own words has a ``text`` in place of the rating. Optional columns:

``question``
    what was asked, if more than one thing was.
``system``, ``other``
    the system that gave the reply. With ``other``, two systems were compared: the rating is 1 if ``system`` is better,
    0 for a tie, -1 if ``other`` is better.
``seconds``
    time spent on the page.
``check``
    the expected rating, if the item tests the rater.
``study``
    the study of the answer; items of different studies are different items.
``version``
    the study's version; items of different versions are different items too, since replies may have changed.
``kind``
    kind of question: ``likert``, ``choice``, ``text`` or ``preference``; if it is missing or has any other value, it is
    inferred from the other columns.
``side``
    in comparisons, where ``system`` stood: ``left`` or ``right``.
``reply``
    the name that ``parlai score_responses`` gives the reply; ``(former reply)`` if the study no longer has it.
``other_reply``
    in comparisons, the name that it gives the second system's reply.
``turn``
    in conversations, the number of the turn that was rated; all turns of a conversation are one item.
``excluded``
    why the rater was excluded from the study.

Other columns are ignored.
"""

from __future__ import annotations

import csv
import io
import json
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import DataError
from parlai_empathy.files.text_file import has_half_characters, read_text
from parlai_empathy.rating.names import FORMER, NOT_EXCLUDED
from parlai_empathy.rating.rating import KINDS, PREFERENCES, SIDES, Rating, Unit
from parlai_empathy.rating.wording import counted

REQUIRED = ("item", "rater", "rating")
NAMES = ("question", "system", "other", "study", "version", "kind", "side", "reply", "other_reply", "turn", "excluded")
COLUMNS = (*REQUIRED, *NAMES, "text", "seconds", "check")
"""All columns that are read; a header may contain each of them once."""

Row = tuple[int, Callable[[], dict[str, Any]]]
"""A row's line number, and a function that returns its record or raises an error if the row is malformed."""


def ratings_of(path: str | Path, scale: Sequence[float] | None = None, skip_bad_rows: bool = False) -> list[Rating]:
    """All ratings of a file. Parameters and errors are those of :func:`read_ratings`.

    :param skip_bad_rows: whether invalid rows are logged and left out instead of raising an error.
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
    """Yield the ratings of a file, in order.

    :param scale: all values that a rating can have, except in comparisons and choices; None for any number.
    :param bad_rows: a list that collects the errors of single rows, which are then left out; None raises the first.
    :raises DataError: with file, line, column and value, if a row cannot be parsed, lacks a value, has a rating that is
        not a number or not on the scale, or repeats a rating of the same rater. Also, whatever ``bad_rows`` is, if the
        file is missing, is not UTF-8, lacks a column, or has unbalanced quotes.
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


def by_question(ratings: Iterable[Rating], replies: Container[str] = frozenset()) -> dict[str, dict[str, list[float]]]:
    """Group the ratings by question and item, in the order of the file; each item must stand for a single reply.

    A turn's item is its :attr:`~parlai_empathy.rating.rating.Rating.name`.

    Texts, choices, checks, and ratings of replies that the study no longer has are left out.

    :param replies: names of replies: a rating whose ``reply`` is one of them is of the item of that name.
    :raises DataError: if an item does not identify a reply: if it has ratings of several systems, of several versions
        of a study or, for one question, of several studies, or comparisons of two systems.
    """
    questions: dict[str, dict[str, list[float]]] = {}
    systems: dict[tuple[str, str], tuple[str, ...]] = {}
    versions: dict[tuple[str, str], str] = {}
    studies: dict[tuple[str, str], str] = {}
    for one in ratings:
        if one.rating is None or one.check is not None or one.kind == "choice" or one.reply == FORMER:
            continue
        item = one.reply if one.reply in replies and not one.other else one.name
        of = systems.setdefault((one.study, item), (one.system,))
        if one.other or of != (one.system,):
            several = (one.system, one.other) if one.other else (*of, one.system)
            raise DataError(
                f"item {item!r} is rated for {several[0]!r} and for {several[1]!r}, so its name alone does not "
                "identify the reply: give each reply its own item, or use parlai ratings_report --items"
            )
        if (version := versions.setdefault((one.study, item), one.version)) != one.version:
            raise DataError(
                f"item {item!r} is rated in the versions {version!r} and {one.version!r} of the study, where it "
                "may be a different reply: keep the rows of one version"
            )
        if (study := studies.setdefault((one.question, item), one.study)) != one.study:
            raise DataError(
                f"item {item!r} is rated in the studies {study!r} and {one.study!r}, where it may be a different "
                "reply: keep the rows of one study"
            )
        questions.setdefault(one.question, {}).setdefault(item, []).append(one.rating)
    return questions


def by_unit(ratings: Iterable[Rating]) -> dict[str, dict[Unit, list[float]]]:
    """Group the ratings by question and judged unit; comparisons have their systems in alphabetical order.

    Texts, choices, and all answers about the items of checks are left out.
    """
    ratings = [one.oriented() for one in ratings]
    made_up = {one.unit for one in ratings if one.check is not None}
    questions: dict[str, dict[Unit, list[float]]] = {}
    for one in ratings:
        if one.rating is not None and one.kind != "choice" and one.unit not in made_up:
            questions.setdefault(one.question, {}).setdefault(one.unit, []).append(one.rating)
    return questions


# --- rows ------------------------------------------------------------------------------------------------------------


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for line, row in enumerate(text.split("\n"), start=1):  # not splitlines: JSON may hold other line separators
        if row.strip():
            yield line, partial(_of_json, f"{path}, line {line}", row)


def _of_json(where: str, row: str) -> dict[str, Any]:
    try:
        record = json.loads(row)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a number too long, or nesting too deep"
        raise DataError(f"{where}: not JSON ({reason}): expected one object per line") from error
    if not isinstance(record, dict):
        raise DataError(f"{where}: {reprlib.repr(record)} is not a JSON object: expected one per line")
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
    """Yield the non-empty rows of a CSV file, each with the number of the line on which it begins."""
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
        raise DataError(
            f"{where}: {counted(len(cells), 'cell')}, expected {len(header)} as in the header: check its commas"
        )
    return dict(zip(header, cells, strict=True))


# --- values ----------------------------------------------------------------------------------------------------------


def _rating(where: str, record: dict[str, Any], scale: Sequence[float] | None) -> Rating:
    is_text = _is_empty(record.get("rating")) and not _is_empty(record.get("text"))
    for column in REQUIRED:
        if _is_empty(record.get(column)) and not (column == "rating" and is_text):
            raise DataError(f"{where}, column {column}: no value: each row needs {', '.join(REQUIRED)}")
    if isinstance(record.get("excluded"), bool):
        record = {**record, "excluded": str(record["excluded"])}  # as in CSV
    names = {column: _name(where, column, record.get(column)) for column in ("item", "rater", *NAMES, "text")}
    if names["other"] and names["other"] == names["system"]:
        raise DataError(f"{where}, column other: {names['other']!r} is compared with itself: name two systems")
    names["kind"] = names["kind"] if names["kind"] in KINDS else ""
    names["side"] = names["side"] if names["side"] in SIDES else ""
    names["turn"] = names["turn"].removesuffix(".0")  # pandas writes whole numbers so if other cells are empty
    names["excluded"] = "" if names["excluded"].lower() in NOT_EXCLUDED else names["excluded"]
    values = _values(names, scale)
    return Rating(
        rating=None if is_text else _number(where, "rating", record["rating"], values),
        seconds=_seconds(where, record.get("seconds")),
        check=None if _is_empty(record.get("check")) else _number(where, "check", record["check"], values),
        **names,
    )


def _values(names: dict[str, str], scale: Sequence[float] | None) -> Sequence[float] | None:
    """The values that a rating can have; None for any number."""
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
        raise DataError(f"{where}, column seconds: {reprlib.repr(value)} is negative")
    return seconds


def _name(where: str, column: str, value: object) -> str:
    """A text without surrounding spaces; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is neither a text nor a number")
    text = str(value).strip()
    if has_half_characters(text):
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} contains half a character (a lone surrogate)")
    return text


def _number(where: str, column: str, value: object, scale: Sequence[float] | None) -> float:
    number = math.nan
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number) or "_" in str(value):  # Python reads 4_3 as 43
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is not a number")
    if scale is not None and number not in scale:
        known = ", ".join(f"{one:g}" for one in scale)
        raise DataError(f"{where}, column {column}: {reprlib.repr(value)} is not on the scale {known}")
    return number


def _key(rating: Rating) -> tuple[str, str, Unit]:
    """The key that must be unique among the rows."""
    return rating.question, rating.rater, rating.unit


def _check_first(where: str, rating: Rating, lines: dict[tuple[str, str, Unit], int]) -> None:
    """Check that the rater has not rated the same before."""
    if line := lines.get(_key(rating)):
        of = f" of {rating.system!r}" if rating.system else ""
        asked = f" for question {rating.question!r}" if rating.question else ""
        raise DataError(
            f"{where}, column rater: {rating.rater!r} has already rated item {rating.name!r}{of}{asked}, in line {line}"
        )
