"""Excluded raters, with reasons. Nothing is deleted: the file of ratings stays unchanged.

A file of exclusions is CSV with the columns ``rater`` and ``reason``. Delete a line to include that rater again.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.files.text_file import open_text
from parlai_empathy.files.whole_file import remedy, whole_file
from parlai_empathy.rating.rating import Rating

COLUMNS = ("rater", "reason")


def read_exclusions(path: str | Path) -> dict[str, str]:
    """Read a file of exclusions; returns rater to reason.

    :raises DataError: with file and line, if the file cannot be read or lacks a column, or if a row lacks its rater or
        reason, or repeats a rater.
    """
    path = Path(path)
    file = open_text(path, f"it should be CSV with {_columns()}")
    reader = csv.reader(file, strict=True, skipinitialspace=True)
    found: dict[str, str] = {}
    places: list[int] | None = None
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if not any(row):
                continue
            where = f"{path}, line {reader.line_num}"
            if places is None:
                places = _places(where, row)
            else:
                _add(where, [row[place] if place < len(row) else "" for place in places], found)
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not CSV ({error}): check its quotes") from error
    if places is None:
        raise DataError(f"{path} is empty: its first line should name {_columns()}")
    return found


def _columns() -> str:
    return " and ".join(COLUMNS)


def _places(where: str, header: Sequence[str]) -> list[int]:
    if missing := [name for name in COLUMNS if header.count(name) != 1]:
        raise DataError(f"{where}: the header should name {' and '.join(missing)} once: it should be {_columns()}")
    return [header.index(name) for name in COLUMNS]


def _add(where: str, row: Sequence[str], found: dict[str, str]) -> None:
    for name, cell in zip(COLUMNS, row, strict=True):
        if not cell:
            raise DataError(f"{where}, column {name}: no value: each line needs a rater and a reason")
    rater, reason = row
    if rater in found:
        raise DataError(f"{where}, column rater: {rater!r} occurs twice: keep one line")
    found[rater] = reason


def write_exclusions(path: str | Path, reasons: Mapping[str, str]) -> None:
    """Write a file that :func:`read_exclusions` reads, atomically.

    :raises OptionError: if it cannot be written.
    """
    try:
        with whole_file(Path(path), is_shared=True) as own, own.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(reasons.items())
    except OSError as error:
        advice = remedy(error, "name another folder")
        raise OptionError(f"{path} cannot be written ({error.strerror}): {advice}") from error


def excluded_in_study(ratings: Sequence[Rating]) -> dict[str, str]:
    """The raters whom the study itself has excluded (column ``excluded``), each with the reason."""
    return {one.rater: one.excluded for one in ratings if one.excluded}


def included(ratings: Sequence[Rating]) -> list[Rating]:
    """The ratings without those of raters whom the study has excluded."""
    return without(ratings, excluded_in_study(ratings))


def without(ratings: Sequence[Rating], reasons: Mapping[str, str]) -> list[Rating]:
    """The ratings without those of excluded raters."""
    return [one for one in ratings if one.rater not in reasons]
