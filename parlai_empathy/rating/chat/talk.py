"""A conversation as its page shows it: the turns with their emotions and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from parlai_empathy.rating.desk.answering import WHOLE
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.messages import Said
from parlai_empathy.rating.desk.outcomes import Assignment
from parlai_empathy.rating.site.fields import PREFIX, Option, options_of
from parlai_empathy.rating.study.questions import FreeText, Question
from parlai_empathy.rating.study.study import RATER
from parlai_empathy.rating.talking.messages import DISTRESS


class Feeling(NamedTuple):
    """A predicted emotion and its probability in percent."""

    name: str
    percent: int


@dataclass(frozen=True)
class Mark:
    """A question about one of the model's turns, and its answer.

    :param name: of the form's field.
    :param options: to choose from; empty for free text.
    :param value: the answer; empty if there is none.
    """

    name: str
    text: str
    required: bool
    options: tuple[Option, ...]
    most: int
    value: str

    @property
    def labelled(self) -> tuple[Option, ...]:
        """The points of a scale that have a label."""
        return tuple(option for option in self.options if option.number and option.text)


@dataclass(frozen=True)
class Turn:
    """A message.

    :param is_own: whether the visitor wrote it.
    :param in_distress: whether it mentions self-harm.
    :param marks: empty for the visitor's own turns.
    """

    number: int
    is_own: bool
    text: str
    feeling: Feeling | None
    in_distress: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Talk:
    """A conversation.

    :param least: minimum number of turns before it can be judged.
    :param most: maximum number of turns.
    :param is_under_way: whether a reply to the last message is in progress.
    """

    id: str
    turns: tuple[Turn, ...]
    least: int
    most: int
    is_under_way: bool = False

    @property
    def is_waiting(self) -> bool:
        """Whether the last message is not answered yet."""
        return bool(self.turns) and self.turns[-1].is_own

    @property
    def has_failed(self) -> bool:
        """Whether the last message has no reply, and none is in progress."""
        return self.is_waiting and not self.is_under_way

    @property
    def is_long_enough(self) -> bool:
        """Whether it has the minimum number of turns. A failed reply counts as one, since it may never come."""
        return len(self.turns) + self.has_failed >= self.least

    @property
    def can_end(self) -> bool:
        """Whether it can be judged: it is long enough, and no reply is in progress."""
        return self.is_long_enough and (self.has_failed or not self.is_waiting)

    @property
    def unmarked(self) -> int | None:
        """The number of the first turn without a mark that the study requires; None if there is none."""
        return next((one.number for one in self.turns for mark in one.marks if mark.required and not mark.value), None)

    @property
    def can_go_on(self) -> bool:
        """Whether there may be another message."""
        return len(self.turns) < self.most

    @property
    def next_turn(self) -> int:
        """The number of the next message."""
        return len(self.turns) + 1


def talk_of(desk: Desk, found: Assignment, is_under_way: bool = False) -> Talk:
    """Return a conversation in its current state.

    :param is_under_way: whether a reply to its last message is in progress.
    """
    said, marks = desk.messages(found.id, found.rater), _marks(desk, found.id)
    turns = tuple(_turn(desk, said, place, marks) for place in range(len(said)))
    is_waiting = bool(turns) and turns[-1].is_own  # a reply that has just ended is one of the turns
    return Talk(found.id, turns, desk.study.least_turns, desk.study.most_turns, is_under_way and is_waiting)


def records_of(desk: Desk, rater: str) -> list[dict[str, object]]:
    """Return all of a person's conversations, of every version of the study and ended or not, as JSON data."""
    with desk.store.reading() as t:
        sql = "SELECT id FROM rating_assignments WHERE study = :study AND rater = :rater ORDER BY opened, id"
        ids = [row["id"] for row in t.rows(sql, study=desk.study.name, rater=rater)]
    return [record for id in ids if (record := _record(desk, id, rater))["turns"]]


def _record(desk: Desk, id: str, rater: str) -> dict[str, object]:
    marks = _marks(desk, id)
    return {
        "turns": [
            {
                "turn": one.turn,
                "speaker": "you" if one.speaker == RATER else "program",
                "text": one.text,
                "when": one.said,
                "marks": {question: value for (turn, question), value in sorted(marks.items()) if turn == one.turn},
            }
            for one in desk.messages(id, rater)
        ]
    }


def _marks(desk: Desk, id: str) -> dict[tuple[int, str], str]:
    """Return the marks of single turns, by turn and question: the point of a scale, or the text of the answer."""
    with desk.store.reading() as t:
        rows = t.rows("SELECT * FROM rating_answers WHERE assignment = :id AND turn <> :whole", id=id, whole=WHOLE)
    return {
        (row["turn"], row["question"]): str(int(row["rating"])) if row["text"] is None else row["text"] for row in rows
    }


def _turn(desk: Desk, said: Sequence[Said], place: int, marks: Mapping[tuple[int, str], str]) -> Turn:
    one = said[place]
    is_own = one.speaker == RATER
    if is_own:
        raw = said[place + 1].details.get("emotion_before") if place + 1 < len(said) else None
    else:
        raw = one.details.get("emotion")
    questions = () if is_own else desk.study.turn_questions
    return Turn(
        one.turn,
        is_own,
        one.text,
        Feeling(str(raw[0]), round(100 * float(raw[1]))) if isinstance(raw, list) else None,
        bool(one.details.get(DISTRESS)),
        tuple(_mark(question, marks.get((one.turn, question.id), "")) for question in questions),
    )


def _mark(question: Question, value: str) -> Mark:
    most = question.most if isinstance(question, FreeText) else 0
    return Mark(PREFIX + question.id, question.text, question.required, options_of(question, ("", "")), most, value)
