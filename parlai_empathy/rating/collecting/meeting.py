"""A meeting of two people: two conversations with swapped roles, each judged by both.

Only this module defines the order of events (Rashkin et al. 2019, section 3). A :class:`Meeting` is plain data: whoever
runs one (the terminal's world, a site) creates it from what has happened so far, asks it what each person has to do,
and stores what they then do in a :class:`~parlai_empathy.rating.collecting.collection.Collection`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from parlai_empathy.rating.collecting.collection import Conversation
from parlai_empathy.rating.study.study import Study

TALKS = 2


class Duty(Enum):
    """What one of the two people has to do now."""

    BEGIN = "The next conversation begins."
    SPEAK = "It is their turn to write."
    LISTEN = "It is their partner's turn to write."
    JUDGE = "They have to judge their partner."
    PAUSE = "Their partner is still judging."
    NOTHING = "There is nothing more to do."


@dataclass(frozen=True)
class Meeting:
    """Two people and their progress.

    :param people: the Speakers of the first and of the second conversation.
    :param talks: the conversations that have begun, in order.
    :param judged: pairs of a conversation's id and a person who has judged it.
    :param is_broken: whether one of them left before both conversations were complete.
    """

    study: Study
    people: tuple[str, str]
    talks: tuple[Conversation, ...] = ()
    judged: frozenset[tuple[str, str]] = frozenset()
    is_broken: bool = False

    def duty(self, person: str) -> Duty:
        """Return what one of the two has to do now."""
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
        """Return the person's partner."""
        first, second = self.people
        return second if person == first else first

    def talk_of(self, person: str) -> Conversation | None:
        """Return the conversation that a person has to judge or that is in progress; None if there is none."""
        for talk in self.talks:
            is_under_way = not talk.is_over and not self.is_broken
            if is_under_way or (talk.is_over and self._must_judge(talk, person)):
                return talk
        return None

    @property
    def next_roles(self) -> tuple[str, str]:
        """The Speaker and the Listener of the next conversation."""
        first, second = self.people
        return (second, first) if self.talks else (first, second)

    @property
    def awaited(self) -> tuple[str, ...]:
        """The people whose partner cannot go on without them; none when both conversations are complete."""
        if self.is_broken or self.whole == TALKS:
            return ()
        return tuple(one for one in self.people if self.duty(one) in (Duty.SPEAK, Duty.JUDGE))

    @property
    def whole(self) -> int:
        """The number of complete conversations."""
        return sum(talk.is_over for talk in self.talks)

    @property
    def full(self) -> Conversation | None:
        """The conversation in progress that already has as many turns as the study allows; None if there is none.

        The last turn ends a conversation, unless the study allowed more when that turn was written.
        """
        most, under_way = self.study.most_turns, (talk for talk in self.talks if not talk.is_over)
        return None if self.is_broken else next((talk for talk in under_way if len(talk.messages) >= most), None)

    def can_end(self, talk: Conversation) -> bool:
        """Whether a conversation is in progress and long enough to be ended."""
        return not talk.is_over and not self.is_broken and len(talk.messages) >= self.study.least_turns

    def _must_judge(self, talk: Conversation, person: str) -> bool:
        return bool(self.study.questions) and (talk.id, person) not in self.judged
