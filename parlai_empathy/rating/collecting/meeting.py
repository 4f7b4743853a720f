"""A meeting of two people: two conversations with the roles swapped, each judged by both.

This is the only place that knows the order of things (Rashkin et al. 2019, section 3). It is a plain state: whoever
runs a meeting (a terminal's world, a site) reads what it knows into one, asks what everybody is to do, and stores what
they then do in a :class:`~parlai_empathy.rating.collection.Collection`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from parlai_empathy.rating.collection import Conversation
from parlai_empathy.rating.study import Study

TALKS = 2


class Duty(Enum):
    """What one of the two is to do now."""

    BEGIN = "The next conversation is to begin."
    SPEAK = "It is their turn to write."
    LISTEN = "It is the other one's turn to write."
    JUDGE = "They are to say what they think of the other one."
    PAUSE = "The other one is still judging."
    NOTHING = "There is nothing more to do."


@dataclass(frozen=True)
class Meeting:
    """Two people, and how far they are.

    :param people: who tells of their situation in the first conversation, and who does in the second one.
    :param talks: the conversations that have begun, in order.
    :param judged: the conversations' ids and who has judged them.
    :param is_broken: whether one of them has left before both conversations were over.
    """

    study: Study
    people: tuple[str, str]
    talks: tuple[Conversation, ...] = ()
    judged: frozenset[tuple[str, str]] = frozenset()
    is_broken: bool = False

    def duty(self, person: str) -> Duty:
        """What one of the two is to do now."""
        for talk in self.talks:
            if talk.is_over and self._must_judge(talk, person):
                return Duty.JUDGE
            if not talk.is_over and not self.is_broken:
                return Duty.SPEAK if talk.next_to_speak == person else Duty.LISTEN
        if self.is_broken or len(self.talks) == TALKS:
            return Duty.NOTHING
        waits = any(self._must_judge(talk, self.other(person)) for talk in self.talks)
        return Duty.PAUSE if waits else Duty.BEGIN

    def other(self, person: str) -> str:
        """The other one of the two."""
        first, second = self.people
        return second if person == first else first

    def talk_of(self, person: str) -> Conversation | None:
        """The conversation that is to be judged by one of the two, or that is under way; None if there is none."""
        for talk in self.talks:
            is_under_way = not talk.is_over and not self.is_broken
            if is_under_way or (talk.is_over and self._must_judge(talk, person)):
                return talk
        return None

    @property
    def next_roles(self) -> tuple[str, str]:
        """Speaker and Listener of the next conversation."""
        first, second = self.people
        return (second, first) if self.talks else (first, second)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Those without whom the other one cannot go on; nobody when both conversations are over."""
        if self.is_broken or self.whole == TALKS:
            return ()
        return tuple(one for one in self.people if self.duty(one) in (Duty.SPEAK, Duty.JUDGE))

    @property
    def whole(self) -> int:
        """How many conversations are over, and long enough to count."""
        return sum(talk.is_over for talk in self.talks)

    def can_end(self, talk: Conversation) -> bool:
        """Whether a conversation is under way, and long enough to be ended."""
        return not talk.is_over and not self.is_broken and len(talk.messages) >= self.study.least_turns

    def _must_judge(self, talk: Conversation, person: str) -> bool:
        return bool(self.study.questions) and (talk.id, person) not in self.judged
