"""Somebody's place in a collection, which determines what their page shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from parlai_empathy.rating.collecting.collection import Conversation
from parlai_empathy.rating.collecting.meeting import Meeting
from parlai_empathy.rating.collecting.prompts import Prompt


class Stage(Enum):
    """What somebody has to do or wait for."""

    NEW = "They have not agreed to take part."
    EXCLUDED = "They are excluded."
    PROMPT = "They have to choose an emotion and describe a situation."
    READY = "They have done so, but are not waiting for anybody."
    WAITING = "They are waiting for somebody to talk with."
    TALK = "They are talking."
    JUDGE = "They are judging their partner."
    PAUSE = "Their partner is still judging."
    BROKEN = "The meeting broke off."
    DONE = "Both conversations are complete and judged."


@dataclass(frozen=True)
class Place:
    """Somebody's place in a collection.

    :param prompt: what they have described: for the next meeting, or in their current or last one; None if there is
        nothing.
    :param meeting: their current or last meeting.
    :param talk: the conversation that is in progress or that they have to judge.
    :param left: whether they left the meeting themselves, or were silent for too long.
    :param stopped: whether the meeting ended because they were excluded for a while.
    :param can_go_on: whether they may meet somebody else after this meeting.
    :param earned_before: whether they earned the study's code in an earlier meeting.
    """

    stage: Stage
    prompt: Prompt | None = None
    meeting: Meeting | None = None
    talk: Conversation | None = None
    left: bool = False
    stopped: bool = False
    can_go_on: bool = True
    earned_before: bool = False

    @property
    def has_earned(self) -> bool:
        """Whether they get the study's code: after both conversations, or if their partner left after the first.

        Who has earned it keeps it, however later meetings go.
        """
        if self.stage is Stage.BROKEN and not self.left and self.meeting is not None and self.meeting.whole > 0:
            return True
        return self.earned_before or self.stage is Stage.DONE

    @property
    def key(self) -> str:
        """A key that stays the same as long as the same page shows the place, whatever is written there."""
        return f"{self.stage.name}-{self.talk.id if self.talk else ''}"
