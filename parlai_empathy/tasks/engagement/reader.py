"""What all evaluation sets are read into: a reply, the turns before it, and its raters' scores."""

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

    :param item: its name within the set.
    :param context: the turns before it, oldest first; none where the set has none.
    :param reply: in one line, as the turns are.
    :param ratings: each rater's score, or a single mean where the set tells no more; at least one.
    :param system: who wrote the reply; None where the set does not say.
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
    """The text with single spaces in place of line ends and runs of white space."""
    return " ".join(text.split())


def whole(text: str, where: str) -> str:
    """The text, once it is known that it can be written.

    :param where: the place, as an error begins with it.
    :raises DataError: if it has half a character.
    """
    if has_half_characters(text):
        raise DataError(f"{where}: {shown(text)} has half a character: write it whole")
    return text


def number(value: object, where: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A rating as a number.

    :param value: a number, or a text that is one.
    :param where: the place, as an error begins with it.
    :raises DataError: if it is no finite number from ``low`` to ``high``.
    """
    try:
        rating = math.nan if isinstance(value, bool) or value is None else float(str(value))
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating) or not low <= rating <= high:
        wanted = "a number" if math.isinf(low) else f"a number from {low:g} to {high:g}"
        raise DataError(f"{where}: {str(value)[:40]!r} is not {wanted}: take the file as its authors published it")
    return rating


def scale_of(replies: Iterable[RatedReply]) -> tuple[int, ...]:
    """The whole numbers from the lowest rating to the highest, for sets whose scale is not known beforehand.

    :raises DataError: if they are so many that one rating must be a slip: each would be a class of its own.
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
