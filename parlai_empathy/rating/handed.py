"""What a desk hands to raters, and what it says to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from parlai_empathy.rating.items import Item


@dataclass(frozen=True)
class Side:
    """One of two things that are compared: the turns before a reply, oldest first, and the reply."""

    context: tuple[str, ...]
    reply: str


@dataclass(frozen=True)
class Assignment:
    """An item that a rater has in hand.

    :param id: cannot be guessed; what the desk is told when the answer comes.
    :param number: which of the rater's items it is, from 1.
    :param swapped: of a pair: whether ``item.other`` stands on the left.
    :param deadline: seconds since 1970, after which it goes to somebody else.
    """

    id: str
    rater: str
    number: int
    item: Item
    swapped: bool
    deadline: float

    @property
    def left(self) -> Side:
        """What stands left; of an item that is no pair, what stands alone."""
        return self._other if self.swapped else self._own

    @property
    def right(self) -> Side:
        """What stands right of a pair."""
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
    DONE = "The rater has judged all items that were meant for one person."
    LATER = "Everything is in other raters' hands at the moment; something may come back."
    COMPLETE = "The study has all the ratings that it wants."


class Outcome(Enum):
    """What has become of an answer."""

    STORED = "It is stored."
    REPEATED = "The same was stored before; nothing was stored twice."
    ALREADY = "Another answer was stored before, and stays."
    TOO_LATE = "The item went to somebody else, or was given back."
    UNKNOWN = "This rater has no such item."
    EXCLUDED = "The rater is excluded."

    @property
    def is_kept(self) -> bool:
        """Whether the answer is in the store."""
        return self in (Outcome.STORED, Outcome.REPEATED)


@dataclass(frozen=True)
class Progress:
    """How far a rater is, gold checks counted."""

    done: int
    of: int


@dataclass(frozen=True)
class Rater:
    """Who rates.

    :param consented: seconds since 1970; None if not yet.
    :param excluded: the reason; None for a rater whose ratings count.
    :param done: items answered.
    """

    id: str
    enrolled: float
    consented: float | None
    excluded: str | None
    done: int
    details: dict[str, str]


@dataclass(frozen=True)
class ArmCount:
    """How many ratings a system or pair has.

    :param done: answered, by raters who are not excluded.
    :param open: in raters' hands.
    :param goal: how many the study wants.
    """

    arm: str
    is_check: bool
    done: int
    open: int
    goal: int
