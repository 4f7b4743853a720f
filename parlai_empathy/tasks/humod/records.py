"""What both of HUMOD's formats are read into, and how their errors say where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from parlai_empathy.errors import DataError, shown

SCALE = (1, 2, 3, 4, 5)
"""The ratings: 1 is irrelevant, 5 is relevant (Merdivan et al. 2020, section 3)."""


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
class Place:
    """A line of a file, for messages."""

    path: Path
    line: int

    def wrong(self, column: str | int, value: object, reason: str) -> NoReturn:
        """Raise an error that names file, line, column and value."""
        raise DataError(f"{self.path}, line {self.line}, column {column}: {shown(value)} {reason}")


def decode(place: Place, line: bytes, column: Callable[[bytes], str | int]) -> str:
    """A line's text. :param column: says from a line's beginning which column it ends in."""
    try:
        return line.rstrip(b"\r\n").decode("utf-8-sig" if place.line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        before, behind = error.object[: error.start], error.object[error.start :]
        around = before.rpartition(b"\t")[2][-20:] + behind.partition(b"\t")[0][:20]
        place.wrong(column(before), around, "is not UTF-8: save the file as UTF-8")


def words(text: str) -> str:
    """The text with single spaces between its words."""
    return " ".join(text.split())
