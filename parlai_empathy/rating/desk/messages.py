"""Storing the messages of chats and collected dialogues: each turn exactly once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from parlai_empathy.files.text_file import as_unicode
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.storage.database import Transaction

LONGEST_REPLY = 8000
"""Maximum length of a model's reply, in characters; longer ones are truncated."""


class Said(NamedTuple):
    """A message of a chat.

    :param turn: from 1.
    :param said: seconds since 1970.
    """

    turn: int
    speaker: str
    text: str
    details: dict[str, object]
    said: float


def say(t: Transaction, id: str, said: Said) -> Outcome:
    """Store a message; an existing message of the same turn is never overwritten."""
    added = t.run(
        "INSERT INTO rating_messages VALUES (:id, :turn, :speaker, :text, :details, :said) ON CONFLICT DO NOTHING",
        id=id,
        turn=said.turn,
        speaker=said.speaker,
        text=said.text,
        details=json.dumps(said.details, sort_keys=True),
        said=said.said,
    )
    if added:
        return Outcome.STORED
    there = next(one for one in messages(t, id) if one.turn == said.turn)
    return Outcome.REPEATED if (there.speaker, there.text) == (said.speaker, said.text) else Outcome.ALREADY


def note(t: Transaction, id: str, said: Said, details: Mapping[str, object]) -> None:
    """Add details to a stored message."""
    t.send(
        "UPDATE rating_messages SET details = :details WHERE assignment = :id AND turn = :turn",
        details=json.dumps({**said.details, **details}, sort_keys=True),
        id=id,
        turn=said.turn,
    )


def messages(t: Transaction, id: str) -> list[Said]:
    """The messages of a chat, in order."""
    rows = t.rows("SELECT * FROM rating_messages WHERE assignment = :id ORDER BY turn", id=id)
    return [Said(row["turn"], row["speaker"], row["text"], json.loads(row["details"]), row["said"]) for row in rows]


def storable_reply(reply: str) -> str:
    """Return a reply as it is stored and shown: valid Unicode, no null characters, no outer blanks, truncated."""
    return as_unicode(reply.replace("\0", "")).strip()[:LONGEST_REPLY].strip()
