"""A rater's earlier answers, for pages that show them again, and the number of answers to each question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from parlai_empathy.rating.desk import assignment
from parlai_empathy.rating.desk.answering import WHOLE
from parlai_empathy.rating.desk.desk import Desk, handed
from parlai_empathy.rating.desk.outcomes import Assignment, Progress
from parlai_empathy.rating.storage.database import Row
from parlai_empathy.rating.study.questions import Choice, FreeText, Preference, Question

_ONE = f"{assignment.WITH_ITEM} WHERE a.study = :study AND a.rater = :rater AND a.id = :id"
_DONE = """SELECT id, version FROM rating_assignments
    WHERE study = :study AND rater = :rater AND state = 'done' ORDER BY opened, number"""
_ANSWERS = "SELECT * FROM rating_answers WHERE assignment = :id AND turn = :turn"


@dataclass(frozen=True)
class Given:
    """An assignment with its stored answers, and the rater's progress.

    :param is_open: whether it is waiting for the rater's answer.
    :param is_done: whether it is answered. If it timed out or was given back, it is neither open nor done.
    :param answers: maps question ids to answers, in the form in which the rater sends them.
    :param seconds: time spent on it; None if unknown.
    :param before: the id of the rater's answered assignment before this one; None for the first.
    :param after: the id of the answered assignment after this one, if this one is answered; None for the last.
    """

    found: Assignment
    progress: Progress
    is_open: bool
    is_done: bool
    answers: dict[str, str]
    seconds: float | None
    before: str | None
    after: str | None


class QuestionCount(NamedTuple):
    """The number of answers to a question for a system or pair, without those of excluded raters."""

    arm: str
    question: str
    answers: int


def given(desk: Desk, id: str, rater: str) -> Given | None:
    """Read an assignment and its answers; None if it is not this rater's, or of another version of the study."""
    own = {"study": desk.study.name, "rater": rater}
    with desk.store.reading() as t:  # all three queries in one round trip
        asked = t.ask(_ONE, **own, id=id), t.ask(_DONE, **own), t.ask(_ANSWERS, id=id, turn=WHOLE)
        found, done, stored = (answer() for answer in asked)
    if not found or found[0]["version"] != desk.study.version:
        return None
    row = found[0]
    ids = [one["id"] for one in done if one["version"] == row["version"]]
    place = ids.index(id) if id in ids else len(ids)
    questions = {question.id: question for question in desk.study.page_questions}
    return Given(
        handed(row),
        desk.progress_after(rater, len(done)),
        row["state"] == assignment.OPEN,
        row["state"] == assignment.DONE,
        {one["question"]: _sent(questions[one["question"]], one, bool(row["swapped"])) for one in stored},
        next((one["seconds"] for one in stored), None),
        ids[place - 1] if place else None,
        ids[place + 1] if place + 1 < len(ids) else None,
    )


def is_marked(desk: Desk, id: str, turn: int) -> bool:
    """Whether there is an answer about one turn of a chat."""
    with desk.store.reading() as t:
        return t.row(_ANSWERS, id=id, turn=turn) is not None


def question_counts(desk: Desk) -> list[QuestionCount]:
    """Count the answers in this version of the study; questions without any are left out."""
    with desk.store.reading() as t:
        rows = t.rows(
            """SELECT a.arm, b.question, count(*) AS many FROM rating_answers AS b
            JOIN rating_assignments AS a ON a.id = b.assignment
            JOIN rating_raters AS r ON r.study = a.study AND r.rater = a.rater
            WHERE a.study = :study AND a.version = :version AND a.state = 'done' AND b.turn = :turn
            AND r.excluded IS NULL
            GROUP BY a.arm, b.question ORDER BY a.arm, b.question""",
            study=desk.study.name,
            version=desk.study.version,
            turn=WHOLE,
        )
    return [QuestionCount(row["arm"], row["question"], row["many"]) for row in rows]


def _sent(question: Question, stored: Row, swapped: bool) -> str:
    """A stored answer in the form in which the rater sends it."""
    if isinstance(question, FreeText | Choice):
        return str(stored["text"])
    rating = int(stored["rating"])
    if isinstance(question, Preference):
        return {1: "left", 0: "tie", -1: "right"}[-rating if swapped else rating]
    return str(rating)
