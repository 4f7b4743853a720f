"""Storing answers: each exactly once, and only while the item is assigned to the rater."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk import assignment
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.study.questions import Answer, Preference, Question, clean, read_answers
from parlai_empathy.rating.study.study import Study

WHOLE = 0
"""The turn number under which answers about a whole item are stored."""


class Submission(NamedTuple):
    """A page of answers.

    :param seconds: time spent on it; None if unknown.
    :param key: identifies the submission, so that a second copy of it is recognised.
    """

    answers: dict[str, Answer]
    seconds: float | None
    key: str


def submission(
    questions: Sequence[Question], raw: Mapping[str, object], seconds: float | None, key: str | None
) -> Submission:
    """Validate what a rater has sent.

    :raises OptionError: if an answer is invalid.
    """
    if seconds is not None and not 0 <= seconds < math.inf:
        raise OptionError(f"seconds is {seconds}, expected a number of at least 0")
    answers = read_answers(questions, raw)
    text = json.dumps(sorted((name, *answer) for name, answer in answers.items()))
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return Submission(answers, seconds, digest if key is None else clean(key, "key"))


def take(t: Transaction, study: Study, row: Row, sent: Submission, revise: bool, total: int, now: float) -> Outcome:
    """Store a submission, if it is in time and not yet stored.

    :param row: the assignment.
    :param revise: whether it may replace an earlier submission with other answers.
    :param total: how many items the rater gets, gold checks included.
    """
    if row["state"] == assignment.DONE:
        if row["submission"] == sent.key:
            return Outcome.REPEATED
        if not revise or row["version"] != study.version:  # another version may ask other questions
            return Outcome.ALREADY
        t.send("DELETE FROM rating_answers WHERE assignment = :id AND turn = :turn", id=row["id"], turn=WHOLE)
    elif row["state"] == assignment.LATE and assignment.can_resume(t, study, row, total):
        assignment.count_late(t, row)
    elif row["state"] != assignment.OPEN:
        return Outcome.TOO_LATE
    seconds = max(0.0, now - row["opened"]) if sent.seconds is None else sent.seconds
    put(t, study, row, sent.answers, WHOLE, seconds, now)
    t.send(
        "UPDATE rating_assignments SET state = 'done', closed = :now, submission = :key WHERE id = :id",
        now=now,
        key=sent.key,
        id=row["id"],
    )
    return Outcome.STORED


def put(
    t: Transaction, study: Study, row: Row, answers: Mapping[str, Answer], turn: int, seconds: float | None, now: float
) -> None:
    """Store answers, one row each; a later answer to the same question replaces the earlier one."""
    kinds = {question.id: question.kind for question in study.questions}
    sides = {name for name, kind in kinds.items() if kind == Preference.kind}
    for name, answer in answers.items():
        t.send(
            """INSERT INTO rating_answers VALUES (:id, :question, :turn, :kind, :rating, :text, :now, :seconds)
            ON CONFLICT (assignment, question, turn) DO UPDATE
            SET kind = excluded.kind, rating = excluded.rating, text = excluded.text, given = excluded.given,
                seconds = excluded.seconds""",
            id=row["id"],
            question=name,
            turn=turn,
            kind=kinds[name],
            # Raters compare left with right; the stored rating compares the item's system with the other one.
            rating=_turned(answer.rating) if row["swapped"] and name in sides else answer.rating,
            text=answer.text,
            now=now,
            seconds=seconds,
        )


def hold(t: Transaction, study: Study, row: Row, total: int, now: float) -> bool:
    """Restart the time limit of an assignment, and return whether it is still the rater's.

    :param total: how many items the rater gets, gold checks included.
    """
    if row["state"] == assignment.LATE:
        sql = "SELECT id FROM rating_assignments WHERE study = :study AND rater = :rater AND state = 'open'"
        has_another = t.row(sql, study=study.name, rater=row["rater"]) is not None
        if has_another or not assignment.can_resume(t, study, row, total):
            return False
        assignment.count_late(t, row)
    elif row["state"] != assignment.OPEN:
        return False
    sql = "UPDATE rating_assignments SET state = 'open', closed = NULL, deadline = :deadline WHERE id = :id"
    t.send(sql, deadline=now + 60 * study.minutes, id=row["id"])
    return True


def _turned(rating: float | None) -> float | None:
    return 0.0 - rating if rating else rating  # no -0.0 for a tie
