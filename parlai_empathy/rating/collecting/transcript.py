"""A conversation between two people as one of them sees it: the Listener does not see the Speaker's prompt."""

from __future__ import annotations

from dataclasses import dataclass

from parlai_empathy.rating.collecting.collection import Conversation
from parlai_empathy.rating.collecting.meeting import Meeting
from parlai_empathy.rating.collecting.prompts import Prompt
from parlai_empathy.rating.desk.messages import Said
from parlai_empathy.rating.talking.messages import DISTRESS


@dataclass(frozen=True)
class Turn:
    """A message.

    :param is_own: whether the visitor wrote it.
    :param in_distress: whether it mentions self-harm.
    """

    number: int
    is_own: bool
    text: str
    in_distress: bool


@dataclass(frozen=True)
class Talk:
    """A conversation.

    :param number: its number in the meeting, from 1.
    :param prompt: what the visitor has to talk about; None for the Listener, who does not see it.
    :param is_mine: whether it is the visitor's turn.
    :param can_end: whether it is long enough to be ended.
    """

    id: str
    number: int
    prompt: Prompt | None
    turns: tuple[Turn, ...]
    is_mine: bool
    can_end: bool

    @property
    def next_turn(self) -> int:
        """The number of the next message."""
        return len(self.turns) + 1


def talk_shown(meeting: Meeting, talk: Conversation, person: str) -> Talk:
    """Return a conversation as one of its two people sees it."""
    is_speaker = person == talk.speaker
    return Talk(
        talk.id,
        meeting.talks.index(talk) + 1,
        talk.prompt if is_speaker else None,
        tuple(_turn(said, is_speaker) for said in talk.messages),
        talk.next_to_speak == person,
        meeting.can_end(talk),
    )


def _turn(said: Said, is_speaker: bool) -> Turn:
    return Turn(said.turn, bool(said.turn % 2) == is_speaker, said.text, bool(said.details.get(DISTRESS)))
