"""Read EPITOME: one file of rated pairs per mechanism, combined into pairs with all three ratings."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from parlai_empathy.errors import DataError, shown
from parlai_empathy.files.text_file import open_text
from parlai_empathy.tasks.epitome.mechanisms import LEVELS, MECHANISMS, file_name
from parlai_empathy.tasks.epitome.spans import Span, clean, find_spans, quotations

COLUMNS = ("sp_id", "rp_id", "seeker_post", "response_post", "level", "rationales")


@dataclass(frozen=True)
class Rating:
    """A row of one mechanism's file.

    :param line: the line on which the row begins.
    :param seeker: the support seeker's post, cleaned (:func:`~parlai_empathy.tasks.epitome.spans.clean`).
    :param level: 0, 1 or 2.
    :param quoted: parts of the response that show the mechanism, as quoted by the raters, cleaned.
    """

    line: int
    seeker_id: str
    response_id: str
    seeker: str
    response: str
    level: int
    quoted: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """A post, a response to it, and the raters' annotations of the response.

    :param levels: 0, 1 or 2, by mechanism.
    :param rationales: spans of the response that show the mechanism, by mechanism; none if the level is 0.
    :param lost: quotations for any mechanism that were not found in the response.
    """

    seeker_id: str
    response_id: str
    seeker: str
    response: str
    levels: dict[str, int]
    rationales: dict[str, tuple[Span, ...]]
    lost: tuple[str, ...]


def read_epitome(folder: str | Path) -> Iterator[Pair]:
    """Read the three files, which have the same pairs in the same order; a pair that was rated twice occurs twice.

    The texts come from the interpretations' file, because some words are missing in the emotional reactions' file.

    :param folder: the folder of the three files.
    :raises DataError: naming file, line, column and value, for an invalid row or a text that is not UTF-8; or if the
        files do not have the same pairs.
    """
    paths = {mechanism: Path(folder) / file_name(mechanism) for mechanism in MECHANISMS}
    files = {mechanism: list(read_ratings(path)) for mechanism, path in paths.items()}
    leader = "interpretations"
    for mechanism, ratings in files.items():
        _check_same(paths[leader], files[leader], paths[mechanism], ratings)
    for row, text in enumerate(files[leader]):
        yield _pair(text, {mechanism: ratings[row] for mechanism, ratings in files.items()})


def read_ratings(path: str | Path) -> Iterator[Rating]:
    """Read one mechanism's file, in file order.

    :raises DataError: as :func:`read_epitome`.
    """
    path = Path(path)
    rows = csv.DictReader(open_text(path, "it should be a file of EPITOME"), strict=True)
    before = 0
    try:
        _check_header(path, list(rows.fieldnames or ()))
        before = rows.line_num
        for row in rows:
            yield _rating(path, before + 1, row)
            before = rows.line_num
    except csv.Error as error:
        raise DataError(
            f"{path}, after line {before}: it is not a valid row of a CSV file ({error}): fetch it again"
        ) from error


def _pair(text: Rating, ratings: dict[str, Rating]) -> Pair:
    found = {mechanism: find_spans(text.response, rating.quoted) for mechanism, rating in ratings.items()}
    return Pair(
        text.seeker_id,
        text.response_id,
        text.seeker,
        text.response,
        levels={mechanism: rating.level for mechanism, rating in ratings.items()},
        rationales={mechanism: spans for mechanism, (spans, _) in found.items()},
        lost=tuple(quotation for _, lost in found.values() for quotation in lost),
    )


def _check_header(path: Path, names: list[str]) -> None:
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise DataError(
            f"{path}, line 1: the column {missing[0]} is missing; {', '.join(COLUMNS)} were expected, found "
            f"{shown(','.join(names))}"
        )


def _check_same(path: Path, ratings: list[Rating], other_path: Path, others: list[Rating]) -> None:
    """Check that two files have the same pairs in the same order."""
    for one, other in zip(ratings, others, strict=False):
        ids = f"{one.seeker_id}, {one.response_id}"
        if (other.seeker_id, other.response_id) != (one.seeker_id, one.response_id):
            _wrong(
                other_path, other.line, "sp_id", other.seeker_id, f"belongs to another pair than {ids} in {path.name}"
            )
    if len(ratings) != len(others):
        raise DataError(
            f"{other_path} holds {len(others):,} pairs and {path.name} {len(ratings):,}: fetch the truncated one again"
        )


def _rating(path: Path, line: int, row: dict[str, str | None]) -> Rating:
    for column in COLUMNS:
        if row[column] is None:
            _wrong(path, line, column, None, f"is missing: a row has {len(COLUMNS)} fields")
    if None in row:  # the csv module stores surplus fields under None
        _wrong(path, line, len(COLUMNS) + 1, row[None], f"is one field too many: a row has {len(COLUMNS)}")  # type: ignore[index]
    fields = {column: row[column] or "" for column in COLUMNS}
    for column in ("sp_id", "rp_id", "seeker_post", "response_post"):
        if not clean(fields[column]):
            _wrong(path, line, column, fields[column], "is empty")
    if fields["level"] not in map(str, LEVELS):
        _wrong(path, line, "level", fields["level"], "is not one of the levels 0, 1 and 2")
    level, quoted = int(fields["level"]), quotations(fields["rationales"])
    if quoted and not level:
        _wrong(
            path,
            line,
            "rationales",
            fields["rationales"],
            "quotes the response for a mechanism of level 0: one is wrong",
        )
    return Rating(
        line,
        fields["sp_id"],
        fields["rp_id"],
        clean(fields["seeker_post"]),
        clean(fields["response_post"]),
        level,
        tuple(quoted),
    )


def _wrong(path: Path, line: int, column: str | int, value: object, reason: str) -> NoReturn:
    raise DataError(f"{path}, line {line}, column {column}: {shown(value)} {reason}")
