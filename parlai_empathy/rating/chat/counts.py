"""Counts of conversations, answers and people in a chat, for its administrators."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import ArmCount, Rater
from parlai_empathy.rating.storage.database import Transaction
from parlai_empathy.rating.study.study import RATER
from parlai_empathy.rating.talking.messages import DISTRESS

_WRITTEN = """FROM rating_messages AS m JOIN rating_assignments AS a ON a.id = m.assignment
    WHERE a.study = :study AND m.speaker = :speaker"""


@dataclass(frozen=True)
class Person:
    """Somebody who takes part.

    :param came: when they first came, in seconds since 1970.
    :param talks: number of ended conversations.
    :param messages: number of messages they wrote, in all conversations.
    :param flagged: how many of these mention self-harm.
    :param excluded: the reason; None if they are not excluded.
    """

    id: str
    came: float
    talks: int
    messages: int
    flagged: int
    excluded: str | None


@dataclass(frozen=True)
class ChatCounts:
    """What the store holds.

    :param systems: conversations with each model, in this version of the study.
    :param answers: number of answers by model and question, without those of excluded people.
    :param people: in the order in which they came.
    """

    systems: tuple[ArmCount, ...]
    answers: dict[tuple[str, str], int]
    people: tuple[Person, ...]


def chat_counts(desk: Desk) -> ChatCounts:
    """Count what the store holds."""
    people, systems = desk.raters(), desk.counts()
    with desk.store.reading() as t:
        written, flagged = _written(t, desk.study.name), _flagged(t, desk.study.name)
        answers = _answers(t, desk)
    return ChatCounts(tuple(systems), answers, tuple(_person(one, written[one.id], flagged[one.id]) for one in people))


def _person(rater: Rater, written: int, flagged: int) -> Person:
    return Person(rater.id, rater.enrolled, rater.done, written, flagged, rater.excluded)


def _written(t: Transaction, study: str) -> Counter[str]:
    rows = t.rows(f"SELECT a.rater, count(*) AS many {_WRITTEN} GROUP BY a.rater", study=study, speaker=RATER)
    return Counter({row["rater"]: row["many"] for row in rows})


def _flagged(t: Transaction, study: str) -> Counter[str]:
    rows = t.rows(
        f"SELECT a.rater, m.details {_WRITTEN} AND m.details <> :nothing", study=study, speaker=RATER, nothing="{}"
    )
    flag = f'"{DISTRESS}": true'
    return Counter(row["rater"] for row in rows if flag in row["details"])


def _answers(t: Transaction, desk: Desk) -> dict[tuple[str, str], int]:
    rows = t.rows(
        """SELECT a.arm, b.question, count(*) AS many FROM rating_answers AS b
        JOIN rating_assignments AS a ON a.id = b.assignment
        JOIN rating_raters AS r ON r.study = a.study AND r.rater = a.rater
        WHERE a.study = :study AND a.version = :version AND r.excluded IS NULL
        GROUP BY a.arm, b.question""",
        study=desk.study.name,
        version=desk.study.version,
    )
    return {(row["arm"], row["question"]): row["many"] for row in rows}
