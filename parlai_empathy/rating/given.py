"""What a rater has answered so far, as a page shows it again, and how many answers each question has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from parlai_empathy.rating import assignment
from parlai_empathy.rating.answering import WHOLE
from parlai_empathy.rating.database import Row
from parlai_empathy.rating.desk import Desk, handed
from parlai_empathy.rating.handed import Assignment, Progress
from parlai_empathy.rating.questions import Choice, FreeText, Preference, Question

_ONE = f"{assignment.WITH_ITEM} WHERE a.study = :study AND a.rater = :rater AND a.id = :id"
_DONE = """SELECT id, version FROM rating_assignments
    WHERE study = :study AND rater = :rater AND state = 'done' ORDER BY opened, number"""
_ANSWERS = "SELECT * FROM rating_answers WHERE assignment = :id AND turn = :turn"


@dataclass(frozen=True)
class Given:
    """An assignment as its rater left it, and how far the rater is.

    :param is_open: whether it is in the rater's hand.
    :param is_done: whether it is answered. It is neither if it went to somebody else.
    :param answers: by the questions' ids, in the words in which the rater sends them.
    :param seconds: spent on it; None if nobody knows.
    :param before: the id of the one that the rater answered before it; None of the first.
    :param after: of one that is answered, the id of the one that was answered after it; None of the last.
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
    """How many answers a system or pair has to a question, those of raters who are excluded left out."""

    arm: str
    question: str
    answers: int


def given(desk: Desk, id: str, rater: str) -> Given | None:
    """What there is of an assignment; None if it was not handed to this rater, or in another version of the study."""
    own = {"study": desk.study.name, "rater": rater}
    with desk.store.reading() as t:  # all three go to the store together
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


def _sent(question: Question, stored: Row, swapped: bool) -> str:
    """An answer as the rater sends it."""
    if isinstance(question, FreeText | Choice):
        return str(stored["text"])
    rating = int(stored["rating"])
    if isinstance(question, Preference):
        return {1: "left", 0: "tie", -1: "right"}[-rating if swapped else rating]
    return str(rating)
