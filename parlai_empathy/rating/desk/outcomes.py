"""The types that a desk returns: assignments, outcomes, progress and counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from parlai_empathy.rating.study.items import Item


@dataclass(frozen=True)
class Side:
    """One side of a comparison: the turns before a reply, oldest first, and the reply."""

    context: tuple[str, ...]
    reply: str


@dataclass(frozen=True)
class Assignment:
    """An item that is assigned to a rater.

    :param id: cannot be guessed; to be passed to the desk with the answers.
    :param number: the number of the item among the rater's items, from 1.
    :param swapped: in a pair, whether ``item.other`` stands on the left.
    :param deadline: the time, in seconds since 1970, after which the item goes to others.
    """

    id: str
    rater: str
    number: int
    item: Item
    swapped: bool
    deadline: float

    @property
    def left(self) -> Side:
        """The left side of a pair; the only side of any other item."""
        return self._other if self.swapped else self._own

    @property
    def right(self) -> Side:
        """The right side of a pair."""
        return self._own if self.swapped else self._other

    @property
    def _own(self) -> Side:
        return Side(self.item.context, self.item.reply)

    @property
    def _other(self) -> Side:
        return Side(self.item.other_context, self.item.other_reply)


class Nothing(Enum):
    """Why there is no item for a rater."""

    CONSENT = "The rater has not agreed to take part yet."
    EXCLUDED = "The rater is excluded."
    DONE = "The rater has judged as many items as one person gets."
    LATER = "All remaining items are with other raters at the moment; some may become free again."
    COMPLETE = "The study has all the ratings that it needs."


class Outcome(Enum):
    """What happened to answers or a message sent to the desk."""

    STORED = "It is stored."
    REPEATED = "The same was stored before; nothing was stored twice."
    ALREADY = "Another answer was stored before, and is kept."
    TOO_LATE = "The item went to somebody else or was given back, or the study has changed."
    UNKNOWN = "This rater has no such item."
    EXCLUDED = "The rater is excluded."

    @property
    def is_kept(self) -> bool:
        """Whether what was sent is in the store."""
        return self in (Outcome.STORED, Outcome.REPEATED)


@dataclass(frozen=True)
class Progress:
    """How many items a rater has answered, and of how many; gold checks included."""

    done: int
    of: int


@dataclass(frozen=True)
class Rater:
    """A rater of a study.

    :param enrolled: seconds since 1970.
    :param consented: seconds since 1970; None without consent.
    :param excluded: the reason for the exclusion; None if not excluded.
    :param done: the number of items answered.
    """

    id: str
    enrolled: float
    consented: float | None
    excluded: str | None
    done: int
    details: dict[str, str]


@dataclass(frozen=True)
class ArmCount:
    """The number of items rated for a system or pair.

    :param done: answered, by raters who are not excluded.
    :param open: assigned and not yet answered.
    :param goal: how many the study wants; 0 if it sets no limit, and for gold checks.
    """

    arm: str
    is_check: bool
    done: int
    open: int
    goal: int
