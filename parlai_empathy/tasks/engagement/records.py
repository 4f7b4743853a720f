"""The records of all evaluation sets: a reply, the turns before it, and its raters' scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from parlai_empathy.errors import DataError, shown
from parlai_empathy.files.text_file import has_half_characters

_LONGEST = 1000  # steps of a scale


@dataclass(frozen=True)
class RatedReply:
    """A reply that people rated.

    :param item: its identifier within the set.
    :param context: the turns before it, oldest first; empty if the set has none.
    :param reply: on one line, like the turns.
    :param ratings: each rater's score, or only the mean if the set has no others; at least one.
    :param system: the system that wrote the reply; None if the set does not name it.
    """

    item: str
    context: tuple[str, ...]
    reply: str
    ratings: tuple[float, ...]
    system: str | None = None

    @property
    def human(self) -> float:
        """The mean of the ratings."""
        return sum(self.ratings) / len(self.ratings)


def one_line(text: str) -> str:
    """Return the text with line breaks and runs of white space replaced by single spaces."""
    return " ".join(text.split())


def whole(text: str, where: str) -> str:
    """Return the text if it can be encoded as UTF-8.

    :param where: the location, for the beginning of error messages.
    :raises DataError: if it has an unpaired surrogate.
    """
    if has_half_characters(text):
        raise DataError(f"{where}: {shown(text)} contains half a character (a lone surrogate): write it whole")
    return text


def number(value: object, where: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a rating as a number.

    :param value: a number, possibly as text.
    :param where: the location, for the beginning of error messages.
    :raises DataError: if it is not a finite number from ``low`` to ``high``.
    """
    try:
        rating = float(str(value))
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating) or not low <= rating <= high:
        wanted = "a number" if math.isinf(low) else f"a number from {low:g} to {high:g}"
        raise DataError(f"{where}: {str(value)[:40]!r} is not {wanted}: use the file as its authors published it")
    return rating


def scale_of(replies: Iterable[RatedReply]) -> tuple[int, ...]:
    """Return the integers from the lowest rating to the highest, for sets whose scale is not known in advance.

    :raises DataError: if there are so many, each a class of its own, that a rating must be a typo.
    """
    ratings = [(rating, reply.item) for reply in replies for rating in reply.ratings]
    (lowest, low_item), (highest, high_item) = min(ratings), max(ratings)
    low, high = math.floor(lowest), math.ceil(highest)
    if high - low > _LONGEST:
        raise DataError(
            f"item {high_item} is rated {highest:g} and item {low_item} {lowest:g}: no scale has more than {_LONGEST} "
            "steps: correct them"
        )
    return tuple(range(low, high + 1))
