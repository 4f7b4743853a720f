"""What a rater has answered so far, as a page shows it again, and how many answers each question has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from parlai_empathy.rating import assignment
from parlai_empathy.rating.answering import WHOLE
from parlai_empathy.rating.database import Row, Transaction
from parlai_empathy.rating.desk import Desk
from parlai_empathy.rating.questions import Choice, FreeText, Preference, Question


@dataclass(frozen=True)
class Given:
    """An assignment as its rater left it.

    :param is_open: whether it is in the rater's hand.
    :param is_done: whether it is answered. It is neither if it went to somebody else.
    :param answers: by the questions' ids, in the words in which the rater sends them.
    :param seconds: spent on it; None if nobody knows.
    :param before: the id of the one that the rater answered before it; None of the first.
    :param after: of one that is answered, the id of the one that was answered after it; None of the last.
    """

    is_open: bool
    is_done: bool
    answers: dict[str, str]
    seconds: float | None
    before: str | None
    after: str | None


class QuestionCount(NamedTuple):
    """How many answers a system or pair has to a question, those of raters who are excluded left out."""

    arm: str
    question: str
    answers: int


def given(desk: Desk, id: str, rater: str) -> Given | None:
    """What there is of an assignment; None if it was not handed to this rater, or in another version of the study."""
    with desk.store.reading() as t:
        row = t.row(
            "SELECT * FROM rating_assignments WHERE id = :id AND study = :study AND rater = :rater",
            id=id,
            study=desk.study.name,
            rater=rater,
        )
        if row is None or row["version"] != desk.study.version:
            return None
        done = _done(t, row)
        stored = t.rows("SELECT * FROM rating_answers WHERE assignment = :id AND turn = :turn", id=id, turn=WHOLE)
    questions = {question.id: question for question in desk.study.page_questions}
    place = done.index(id) if id in done else len(done)
    return Given(
        row["state"] == assignment.OPEN,
        row["state"] == assignment.DONE,
        {one["question"]: _sent(questions[one["question"]], one, bool(row["swapped"])) for one in stored},
        next((one["seconds"] for one in stored), None),
        done[place - 1] if place else None,
        done[place + 1] if place + 1 < len(done) else None,
    )


def question_counts(desk: Desk) -> list[QuestionCount]:
    """How many answers there are, of this version of the study; a question that has none is not among them."""
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


def _done(t: Transaction, row: Row) -> list[str]:
    """What the rater has answered, by id, in the order in which it was handed out."""
    rows = t.rows(
        "SELECT id FROM rating_assignments WHERE study = :study AND version = :version AND rater = :rater "
        "AND state = 'done' ORDER BY opened, number",
        study=row["study"],
        version=row["version"],
        rater=row["rater"],
    )
    return [one["id"] for one in rows]


def _sent(question: Question, stored: Row, swapped: bool) -> str:
    """An answer as the rater sends it."""
    if isinstance(question, FreeText | Choice):
        return str(stored["text"])
    rating = int(stored["rating"])
    if isinstance(question, Preference):
        return {1: "left", 0: "tie", -1: "right"}[-rating if swapped else rating]
    return str(rating)
