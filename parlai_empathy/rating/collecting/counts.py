"""Counts of people, conversations and emotions in a collection, for its administrators."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from parlai_empathy.rating.collecting.collection import BROKEN, OPEN, OVER
from parlai_empathy.rating.collecting.lobby import Lobby
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.talking.distress import speaks_of_self_harm
from parlai_empathy.rating.talking.messages import DISTRESS
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS


@dataclass(frozen=True)
class EmotionCount:
    """How often an emotion was chosen, and how many complete conversations are about it."""

    emotion: str
    chosen: int
    whole: int


@dataclass(frozen=True)
class Person:
    """Somebody who takes part.

    :param came: when they first came, in seconds since 1970.
    :param whole: number of complete conversations.
    :param flagged: how many of their messages and situations mention self-harm.
    :param excluded: the reason; None if they are not excluded.
    """

    id: str
    came: float
    whole: int
    flagged: int
    excluded: str | None


@dataclass(frozen=True)
class CollectionCounts:
    """What the store holds.

    :param rows: labels and numbers.
    """

    rows: tuple[tuple[str, int], ...]
    people: tuple[Person, ...]
    emotions: tuple[EmotionCount, ...]


def counts_of(lobby: Lobby) -> CollectionCounts:
    """Count what the store holds, after breaking off all meetings whose time is over."""
    lobby.close_deserted()
    desk = lobby.collection.desk
    people = desk.raters()
    out = {person.id for person in people if person.excluded is not None}
    with desk.store.reading() as t:
        talks = t.rows(
            "SELECT c.*, p.emotion FROM rating_conversations AS c JOIN rating_prompts AS p ON p.id = c.prompt "
            "WHERE c.study = :study",
            study=desk.study.name,
        )
        prompts = t.rows("SELECT * FROM rating_prompts WHERE study = :study AND emotion <> ''", study=desk.study.name)
        waiting, flagged = lobby.waiting(t), _flagged(t, desk.study.name)
    whole = [talk for talk in talks if talk["state"] == OVER]
    broken = {talk["prompt"] for talk in talks if talk["state"] == BROKEN}
    chosen = Counter(prompt["emotion"] for prompt in prompts if prompt["id"] not in broken)
    by_emotion = Counter(talk["emotion"] for talk in whole)
    by_person = Counter(person for talk in whole for person in (talk["speaker"], talk["listener"]))
    described = {(prompt["rater"], prompt["situation"]) for prompt in prompts}  # one that is told again counts once
    flagged.update(rater for rater, situation in described if _speaks_of_self_harm(situation))
    return CollectionCounts(
        (
            ("People", len(people)),
            ("In the waiting room", waiting),
            ("Conversations in progress", sum(talk["state"] == OPEN for talk in talks)),
            ("Complete conversations", len(whole)),
            ("Complete conversations without excluded people", sum(_counts(talk, out) for talk in whole)),
            ("Conversations that broke off", len(broken)),
            ("Messages and situations that mention self-harm", sum(flagged.values())),
        ),
        tuple(Person(one.id, one.enrolled, by_person[one.id], flagged[one.id], one.excluded) for one in people),
        tuple(EmotionCount(one, chosen[one], by_emotion[one]) for one in EMOTIONS),
    )


@lru_cache(maxsize=100_000)
def _speaks_of_self_harm(situation: str) -> bool:
    """Remember the result: a situation never changes, and the rules would take seconds for some thousands of them."""
    return speaks_of_self_harm(situation)


def _counts(talk: Row, out: set[str]) -> bool:
    return not out & {talk["speaker"], talk["listener"]}


def _flagged(t: Transaction, study: str) -> Counter[str]:
    """Count each person's messages that mention self-harm."""
    rows = t.rows(
        "SELECT m.turn, c.speaker, c.listener, m.details FROM rating_messages AS m "
        "JOIN rating_conversations AS c ON c.id = m.assignment WHERE c.study = :study AND m.details <> :nothing",
        study=study,
        nothing="{}",
    )
    flag = f'"{DISTRESS}": true'
    return Counter(row["speaker"] if row["turn"] % 2 else row["listener"] for row in rows if flag in row["details"])
