"""Prompts in the store: which emotions somebody is offered, and what they describe. For use within a transaction."""

from __future__ import annotations

import json
import random
import secrets
from collections import Counter
from dataclasses import dataclass

from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.study.study import Study
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS

OFFERED = 3
ALL = "SELECT * FROM rating_prompts WHERE study = :study"
"""An SQL query that can be extended with ``AND``."""

_EXCLUDED = "SELECT r.rater FROM rating_raters AS r WHERE r.study = :study AND r.excluded IS NOT NULL"


@dataclass(frozen=True)
class Prompt:
    """What one person talks about.

    :param offered: the emotions to choose from.
    :param emotion: the chosen one; empty until then.
    """

    id: str
    rater: str
    offered: tuple[str, ...]
    emotion: str = ""
    situation: str = ""


def prompt_of(row: Row) -> Prompt:
    """Return the prompt in a row of the store."""
    return Prompt(row["id"], row["rater"], tuple(json.loads(row["offered"])), row["emotion"], row["situation"])


def least_chosen(t: Transaction, study: Study, rater: str) -> list[str]:
    """Return the emotions to offer: those that the person has chosen least, and of these the least chosen by everybody.

    Prompts whose conversation broke off are not counted: they are not in the data, and may be told again. Neither are
    prompts that were told by, or to, somebody who is excluded.
    """
    chosen = t.rows(
        f"""{ALL} AND emotion <> '' AND NOT EXISTS (SELECT 1 FROM rating_conversations AS c
        WHERE c.study = :study AND c.prompt = rating_prompts.id AND (c.state = 'left' OR c.listener IN ({_EXCLUDED})))
        AND rater NOT IN ({_EXCLUDED})""",
        study=study.name,
    )
    by_all = Counter(row["emotion"] for row in chosen)
    by_rater = Counter(row["emotion"] for row in chosen if row["rater"] == rater)
    draw = random.Random("\n".join(map(str, (study.seed, rater, len(chosen)))))
    in_order = sorted(draw.sample(EMOTIONS, len(EMOTIONS)), key=lambda one: (by_rater[one], by_all[one]))
    return in_order[:OFFERED]


def untold(t: Transaction, study: str, rater: str) -> Prompt | None:
    """Return what a person described last and has not begun to tell; None if there is nothing."""
    row = t.row(
        f"""{ALL} AND rater = :rater AND emotion <> '' AND NOT EXISTS (SELECT 1 FROM rating_conversations AS c
        WHERE c.study = :study AND c.prompt = rating_prompts.id) ORDER BY made DESC""",
        study=study,
        rater=rater,
    )
    return None if row is None else prompt_of(row)


def found(t: Transaction, study: str, id: str) -> Prompt | None:
    """Return a prompt; None if there is none with this id."""
    row = t.row(f"{ALL} AND id = :id", study=study, id=id)
    return None if row is None else prompt_of(row)


def renew(t: Transaction, study: Study, prompt: Prompt, now: float) -> None:
    """Store a copy of a prompt whose conversation broke off, so that it can be told again."""
    t.run(
        "INSERT INTO rating_prompts VALUES (:id, :study, :version, :rater, :offered, :emotion, :situation, :now)",
        id=secrets.token_hex(16),
        study=study.name,
        version=study.version,
        rater=prompt.rater,
        offered=json.dumps(prompt.offered),
        emotion=prompt.emotion,
        situation=prompt.situation,
        now=now,
    )
