"""The records of both of HUMOD's formats, and the locations in error messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from parlai_empathy.errors import DataError, shown

SCALE = (1, 2, 3, 4, 5)
"""The ratings, from 1 (irrelevant) to 5 (relevant) (Merdivan et al. 2020, section 3)."""


@dataclass(frozen=True)
class Pair:
    """A context with one reply, its ratings, and people's replies. Runs of white space are replaced by single spaces.

    :param pair_id: its identifier in the file.
    :param context: the turns before the reply, oldest first, alternating between two speakers. Some turns may be empty,
        but not all.
    :param is_original: whether this is the film's own reply; otherwise it was drawn at random.
    :param ratings: each rater's relevance, 1..5; empty if the file does not have them.
    :param mean_rating: mean of the ratings, 1..5; None if the pair is not rated in this file.
    :param human_replies: the reply that each rater would have given, one per rater, including empty ones.
    :param raters: for each of ``ratings`` the file's other columns, by their names in lower case.
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
class Place:
    """A line of a file, for error messages."""

    path: Path
    line: int

    def wrong(self, column: str | int, value: object, reason: str) -> NoReturn:
        """Raise an error that names file, line, column and value."""
        raise DataError(f"{self.path}, line {self.line}, column {column}: {shown(value)} {reason}")


def decode(place: Place, line: bytes, column: Callable[[bytes], str | int]) -> str:
    """Return a line's text. :param column: returns the column in which a beginning of the line ends, for errors."""
    try:
        return line.rstrip(b"\r\n").decode("utf-8-sig" if place.line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        before, behind = error.object[: error.start], error.object[error.start :]
        around = before.rpartition(b"\t")[2][-20:] + behind.partition(b"\t")[0][:20]
        place.wrong(column(before), around, "is not UTF-8: save the file as UTF-8")


def words(text: str) -> str:
    """Return the text with single spaces between its words."""
    return " ".join(text.split())
