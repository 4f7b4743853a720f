"""Enrolling, looking up and excluding a study's raters, inside a transaction of the desk."""

from __future__ import annotations

import json
from collections.abc import Mapping

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.desk import assignment
from parlai_empathy.rating.desk.outcomes import Rater
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.study.questions import clean

_LONGEST = 200
_RATER = "SELECT * FROM rating_raters WHERE study = :study AND rater = :rater"


def checked(rater: str) -> str:
    """A rater's name without surrounding blanks.

    :raises OptionError: if it is empty or too long.
    """
    rater = clean(rater, "rater")
    if not 1 <= len(rater) <= _LONGEST:
        raise OptionError(f"rater {rater[:20]!r}: expected a name of 1 to {_LONGEST} characters")
    return rater


def enrolled(t: Transaction, study: str, rater: str, now: float) -> Row:
    """The row of a rater, who is added if new."""
    if row := t.row(_RATER, study=study, rater=rater):
        return row
    sql = "INSERT INTO rating_raters VALUES (:study, :rater, :now, NULL, NULL, '{}') ON CONFLICT DO NOTHING"
    t.send(sql, study=study, rater=rater, now=now)
    return known(t, study, rater)


def known(t: Transaction, study: str, rater: str) -> Row:
    """The row of an enrolled rater.

    :raises OptionError: if the rater is unknown.
    """
    row = t.row(_RATER, study=study, rater=rater)
    if row is None:
        raise OptionError(f"rater {rater[:40]!r}: there is no rater of that name in the study {study}")
    return row


def remember(t: Transaction, row: Row, consented: float | None, details: Mapping[str, str]) -> None:
    """Record the time of a rater's first consent, and merge ``details`` into those stored."""
    t.send(
        "UPDATE rating_raters SET details = :details, consented = COALESCE(consented, :consented) "
        "WHERE study = :study AND rater = :rater",
        study=row["study"],
        rater=row["rater"],
        details=json.dumps({**json.loads(row["details"]), **details}, sort_keys=True),
        consented=consented,
    )


def assignments(t: Transaction, study: str, rater: str, state: str) -> list[Row]:
    """A rater's assignments of one state with their items, in the order in which they were assigned."""
    sql = f"{assignment.WITH_ITEM} WHERE a.study = :study AND a.rater = :rater AND a.state = :state"
    return t.rows(f"{sql} ORDER BY a.opened, a.number", study=study, rater=rater, state=state)


def count_done(t: Transaction, study: str, rater: str) -> int:
    """How many items a rater has answered."""
    sql = "SELECT count(*) AS many FROM rating_assignments WHERE study = :study AND rater = :rater AND state = :state"
    return int(t.rows(sql, study=study, rater=rater, state=assignment.DONE)[0]["many"])


def set_excluded(t: Transaction, study: str, rater: str, reason: str | None, now: float) -> None:
    """Exclude a rater's ratings from all counts, so that others get their items; without a reason, include them again.

    :raises OptionError: if the rater is unknown.
    """
    was = known(t, study, rater)["excluded"]
    if reason is not None and was is None:
        for row in assignments(t, study, rater, assignment.OPEN):
            assignment.leave(t, row, assignment.LATE, now)
    if (reason is None) != (was is None):
        for row in assignments(t, study, rater, assignment.DONE):
            assignment.fill(t, row, 1 if reason is None else -1)
    sql = "UPDATE rating_raters SET excluded = :reason WHERE study = :study AND rater = :rater"
    t.send(sql, study=study, rater=rater, reason=reason)


def excluded(t: Transaction, study: str, people: tuple[str, str]) -> tuple[str, ...]:
    """Return those of two people who are excluded."""
    sql = "SELECT rater FROM rating_raters WHERE study = :study AND rater IN (:one, :other) AND excluded IS NOT NULL"
    rows = t.rows(f"{sql} ORDER BY rater", study=study, one=people[0], other=people[1])
    return tuple(row["rater"] for row in rows)


def found(t: Transaction, study: str, rater: str | None = None) -> list[Rater]:
    """All raters in order of enrolment, or only ``rater``."""
    rows = t.rows(
        f"""SELECT r.*, (SELECT count(*) FROM rating_assignments AS a
            WHERE a.study = r.study AND a.rater = r.rater AND a.state = 'done') AS done
        FROM rating_raters AS r WHERE study = :study {"" if rater is None else "AND rater = :rater"}
        ORDER BY enrolled, rater""",
        study=study,
        **({} if rater is None else {"rater": rater}),
    )
    return [
        Rater(row["rater"], row["enrolled"], row["consented"], row["excluded"], row["done"], json.loads(row["details"]))
        for row in rows
    ]
