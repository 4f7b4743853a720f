"""Meetings in the store: how they begin, continue, break off and end. For use within the lobby's transactions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from parlai_empathy.rating.collecting.collection import BROKEN, ENDED, OVER, Collection
from parlai_empathy.rating.collecting.meeting import TALKS, Meeting
from parlai_empathy.rating.collecting.prompts import Prompt, renew
from parlai_empathy.rating.desk import raters
from parlai_empathy.rating.storage.database import Row, Transaction

_OPEN, _LEFT, _STOPPED = "open", "left", "stopped"


@dataclass(frozen=True)
class Met:
    """A stored meeting.

    :param prompts: ids of the two people's prompts, in the order of ``meeting.people``.
    :param is_open: whether it did not break off; both conversations may be complete.
    :param is_stopped: whether it broke off because somebody was excluded, who may have been included again since.
    :param left_by: those who left it, were silent for too long, or were excluded.
    :param excluded: those of its people who are excluded now.
    :param last_act: when one of the two last did something, in seconds since 1970.
    """

    id: str
    meeting: Meeting
    prompts: tuple[str, str]
    is_open: bool
    is_stopped: bool
    left_by: tuple[str, ...]
    excluded: tuple[str, ...]
    last_act: float


def begin(t: Transaction, collection: Collection, first: Prompt, second: Prompt) -> None:
    """Let two people meet and begin the first one's conversation."""
    t.run(
        "INSERT INTO rating_meetings VALUES (:id, :study, :version, :first, :second, :first_prompt, :second_prompt, "
        "'open', '[]', 0, 0, :begun)",
        id=secrets.token_hex(16),
        study=collection.study.name,
        version=collection.study.version,
        first=first.rater,
        second=second.rater,
        first_prompt=first.id,
        second_prompt=second.id,
        begun=collection.desk.clock(),
    )
    collection.begun(t, first.id, second.rater)


def begin_next(t: Transaction, collection: Collection, met: Met) -> None:
    """Begin the next conversation."""
    speaker, listener = met.meeting.next_roles
    collection.begun(t, met.prompts[met.meeting.people.index(speaker)], listener)


def break_off(t: Transaction, collection: Collection, met: Met, left_by: Sequence[str]) -> None:
    """End a meeting early. Conversations that are long enough count as complete; shorter ones break off.

    :param left_by: the people who caused it. If one of them is excluded, the meeting is stored as stopped, not as left.
    """
    meeting, whole = met.meeting, 0
    for talk in meeting.talks:
        is_whole = talk.is_over or meeting.can_end(talk)
        collection.close(t, talk.id, OVER if is_whole else BROKEN)
        whole += is_whole
    if whole == TALKS:
        return  # both conversations are complete, so the meeting has ended normally
    sql = "UPDATE rating_meetings SET state = :state, left_by = :left_by WHERE id = :id"
    state = _STOPPED if set(left_by) & set(met.excluded) else _LEFT
    t.run(sql, state=state, left_by=json.dumps(list(left_by)), id=met.id)


def leave_meeting(t: Transaction, collection: Collection, met: Met, rater: str) -> None:
    """Let somebody leave a meeting that has ended. If their own conversation broke off, they can tell it again."""
    place = met.meeting.people.index(rater)
    column = ("first_gone", "second_gone")[place]
    t.run(f"UPDATE rating_meetings SET {column} = 1 WHERE id = :id", id=met.id)
    told = collection.about(t, met.prompts[place])
    if told is not None and not told.is_over:
        renew(t, collection.study, told.prompt, collection.desk.clock())


def of(t: Transaction, collection: Collection, rater: str) -> Met | None:
    """Return the meeting that somebody is in, or that has ended but that they have not left yet."""
    row = t.row(
        "SELECT * FROM rating_meetings WHERE study = :study AND ((first = :rater AND first_gone = 0) "
        "OR (second = :rater AND second_gone = 0))",
        study=collection.study.name,
        rater=rater,
    )
    return None if row is None else _met(t, collection, row)


def under_way(t: Transaction, collection: Collection) -> list[Met]:
    """Return the meetings that have not broken off and whose conversations are not all complete."""
    rows = t.rows(
        """SELECT * FROM rating_meetings AS m WHERE study = :study AND state = 'open' AND :talks > (SELECT count(*)
            FROM rating_conversations AS c WHERE c.study = m.study AND c.prompt IN (m.first_prompt, m.second_prompt)
            AND c.state = 'over') ORDER BY begun""",
        study=collection.study.name,
        talks=TALKS,
    )
    return [_met(t, collection, row) for row in rows]


def whole(t: Transaction, study: str, rater: str) -> int:
    """Return how many complete conversations somebody has had."""
    sql = (
        "SELECT count(*) AS many FROM rating_conversations WHERE study = :study AND state = 'over' "
        "AND :rater IN (speaker, listener)"
    )
    return int(t.rows(sql, study=study, rater=rater)[0]["many"])


def _met(t: Transaction, collection: Collection, row: Row) -> Met:
    people, prompts = (row["first"], row["second"]), (row["first_prompt"], row["second_prompt"])
    told = (collection.about(t, prompt) for prompt in prompts)
    # Whoever has left a meeting before telling their situation may tell it to somebody else.
    talks = tuple(talk for talk in told if talk is not None and {talk.speaker, talk.listener} == set(people))
    judged: dict[tuple[str, str], float] = {}
    for talk in talks:
        sql = "SELECT rater, max(given) AS given FROM rating_evaluations WHERE conversation = :id GROUP BY rater"
        judged.update({(talk.id, one["rater"]): one["given"] for one in t.rows(sql, id=talk.id)})
    is_open = row["state"] == _OPEN
    meeting = Meeting(collection.study, people, talks, frozenset(judged), not is_open)
    acts = [row["begun"], *judged.values(), *(talk.begun for talk in talks)]
    for said in (said for talk in talks for said in talk.messages):
        ended = said.details.get(ENDED)
        acts.append(ended if isinstance(ended, float) else said.said)
    excluded = raters.excluded(t, collection.study.name, people)
    left_by, is_stopped = tuple(json.loads(row["left_by"])), row["state"] == _STOPPED
    return Met(row["id"], meeting, prompts, is_open, is_stopped, left_by, excluded, max(acts))
