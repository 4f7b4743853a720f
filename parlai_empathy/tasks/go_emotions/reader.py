"""Read GoEmotions: one tab-separated file per fold, with a text, the numbers of its emotions, and a comment id."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from parlai_empathy.errors import DataError, shown
from parlai_empathy.files.text_file import open_text
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS

FILES = {"train": "train.tsv", "valid": "dev.tsv", "test": "test.tsv"}
"""The authors' file of each fold."""

COLUMNS = ("text", "emotions", "id")
"""The three columns; the files have no header."""

_NUMBERS = {str(number): emotion for number, emotion in enumerate(EMOTIONS)}


@dataclass(frozen=True)
class Comment:
    """A comment, and the emotions that at least two of its raters assigned to it.

    :param emotions: one or more of :data:`~parlai_empathy.tasks.go_emotions.emotions.EMOTIONS`, in the file's order.
    """

    comment_id: str
    text: str
    emotions: tuple[str, ...]


def read_go_emotions(folder: str | Path, fold: str) -> Iterator[Comment]:
    """Read a fold (``train``, ``valid`` or ``test``), in file order.

    :raises DataError: naming file, line, column and value, for a file that is missing or is not UTF-8, or an invalid
        row.
    """
    path = Path(folder) / FILES[fold]
    # A text that contains quotation marks is enclosed in quotation marks, and its own are doubled.
    rows = csv.reader(open_text(path, "it should be a file of GoEmotions"), delimiter="\t", strict=True)
    line = 0
    try:
        for row in rows:
            yield _comment(path, line + 1, row)
            line = rows.line_num
    except csv.Error as error:
        raise DataError(
            f"{path}, after line {line}: it is not a valid row of the file ({error}): fetch it again"
        ) from error


def _comment(path: Path, line: int, row: list[str]) -> Comment:
    if len(row) != len(COLUMNS):
        raise DataError(f"{path}, line {line}: {len(row)} field(s) where {', '.join(COLUMNS)} were expected")
    text, numbers, comment_id = (field.strip() for field in row)
    if not text:
        _wrong(path, line, "text", row[0], "is empty")
    if "\n" in text:  # rows that a quotation mark at the start of a text has joined
        _wrong(path, line, "text", text, "is of several lines, from a quotation mark to the next: fetch it again")
    found = numbers.split(",")
    if strange := [number for number in found if number not in _NUMBERS]:
        _wrong(path, line, "emotions", strange[0], f"is not a number from 0 to {len(EMOTIONS) - 1}")
    if len(set(found)) < len(found):
        _wrong(path, line, "emotions", numbers, "names an emotion twice")
    return Comment(comment_id, text, tuple(_NUMBERS[number] for number in found))


def _wrong(path: Path, line: int, column: str, value: str, reason: str) -> NoReturn:
    raise DataError(f"{path}, line {line}, column {column}: {shown(value)} {reason}")
