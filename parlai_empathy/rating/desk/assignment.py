"""Assigning items to raters. Everything runs inside a transaction that holds the study's lock.

Guarantees:

- No rater is given the same subject twice: neither the same item, nor another system's reply in the same context. (A
  ``UNIQUE`` constraint of the table enforces it.) There are two exceptions. An assignment that timed out can return to
  its own rater, as the same assignment, if nobody else has taken the item. A rater who has answered nothing and for
  whom nothing else is left can get what they have given back (chats only) or what a new version of the study has
  interrupted, in a new assignment.
- No item is answered by more raters than its quota.
- Each of a rater's items comes from a different system, as far as there are enough systems. Among the systems that the
  rater has seen least, the one with the fewest ratings comes first (Rashkin et al. 2019, section 5.2: ten items, each
  from another random model; at least 100 ratings per model), and within it the item with the fewest. Ties are broken
  at random, from the study's seed.
- The two systems of a pair appear on each side equally often, to within one, as long as no assignment is abandoned.
- An item that is not answered in time goes to others.
"""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Iterable
from typing import Any

from parlai_empathy.rating.desk.progress import UNLIMITED, Standing, has_enough, query_progress
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.study.study import Study

OPEN, DONE, LATE, BACK = "open", "done", "late", "back"

WITH_ITEM = """SELECT a.*, i.name, i.system, i.other, i.content FROM rating_assignments AS a
    JOIN rating_items AS i ON i.study = a.study AND i.version = a.version AND i.place = a.place"""
"""The beginning of a query for assignments together with their items."""

_NEW = """SELECT * FROM rating_items WHERE study = :study AND version = :version AND arm = :arm
    AND NOT EXISTS (SELECT 1 FROM rating_assignments AS seen
        WHERE seen.study = rating_items.study AND seen.rater = :rater AND seen.subject = rating_items.subject)"""
# Among the items with the fewest ratings, the first whose lot is at least `start`, wrapping round to the smallest lot.
# This is fast for any number of items.
_PICK = f"""
    WITH least AS ({_NEW} AND filled < :quota ORDER BY filled, lot LIMIT 1),
    later AS ({_NEW} AND filled = (SELECT filled FROM least) AND lot >= :start ORDER BY lot LIMIT 1)
    SELECT * FROM (SELECT 1 AS choice, later.* FROM later UNION ALL SELECT 2 AS choice, least.* FROM least) AS found
    ORDER BY choice LIMIT 1"""


def standing(t: Transaction, study: Study, rater: str, now: float) -> Standing:
    """Time out overdue assignments, then return the progress of a rater and of the study."""
    sql = "SELECT * FROM rating_assignments WHERE study = :study AND state = 'open' AND deadline < :now"
    late, found = t.ask(sql, study=study.name, now=now), query_progress(t, study, rater)
    if rows := late():
        for row in rows:
            leave(t, row, LATE, now)
        found = query_progress(t, study, rater)
    return found()


def leave(t: Transaction, row: Row, state: str, now: float) -> None:
    """End an open assignment without an answer."""
    sql = "UPDATE rating_assignments SET state = :state, closed = :now WHERE id = :id"
    t.send(sql, state=state, now=now, id=row["id"])
    fill(t, row, -1)


def fill(t: Transaction, row: Row, step: int) -> None:
    """Add an assignment to the counts (1) or subtract it (-1), and redraw the lot of its item."""
    values = {"study": row["study"], "version": row["version"], "arm": row["arm"], "step": step}
    t.send(
        "UPDATE rating_items SET filled = filled + :step, lot = CASE WHEN lot < 1 THEN :lot ELSE lot END "
        "WHERE study = :study AND version = :version AND place = :place AND arm = :arm",
        **values,
        place=row["place"],
        lot=_random(row["version"], row["place"], row["rater"], row["number"], step).random(),
    )
    t.send(
        "UPDATE rating_arms SET filled = filled + :step, swapped = swapped + :swapped "
        "WHERE study = :study AND version = :version AND arm = :arm",
        **values,
        swapped=step * row["swapped"],
    )


def can_resume(t: Transaction, study: Study, row: Row, total: int) -> bool:
    """Whether an assignment that timed out can still be answered: its item is free, its side would not unbalance the
    pair, and its rater has not been given their full set meanwhile, of items or, if it is one, of gold checks.

    :param total: how many items the rater gets, gold checks included.
    """
    if row["version"] != study.version:
        return False
    items = t.ask(
        "SELECT filled, quota FROM rating_items WHERE study = :study AND version = :version AND place = :place",
        study=study.name,
        version=row["version"],
        place=row["place"],
    )
    found = query_progress(t, study, row["rater"])()
    every, checks = found.count(OPEN, DONE), _checks(found)
    has, most = checks, study.checks_per_rater
    if not row["is_check"]:  # `total` also has the checks of an earlier version that had more of them
        has, most = every - checks, total - max(checks, study.checks_per_rater)
    if every >= total or has >= most or any(item["filled"] >= item["quota"] for item in items()):
        return False
    return bool(row["is_check"]) or not _swaps(study) or _side(found, row["arm"]) in (None, row["swapped"])


def resume(t: Transaction, row: Row, number: int, now: float, deadline: float) -> None:
    """Reopen an assignment that timed out."""
    t.send(
        "UPDATE rating_assignments SET state = 'open', closed = NULL, number = :number, deadline = :deadline, "
        "opened = :now WHERE id = :id",
        number=number,
        deadline=deadline,
        now=now,
        id=row["id"],
    )
    fill(t, row, 1)


def count_late(t: Transaction, row: Row) -> None:
    """Count an assignment that had timed out again: as the rater's next one, before the one that is open."""
    t.send(
        "UPDATE rating_assignments SET number = 1 + (SELECT count(*) FROM rating_assignments AS done "
        "WHERE done.study = :study AND done.rater = :rater AND done.state = 'done') WHERE id = :id",
        study=row["study"],
        rater=row["rater"],
        id=row["id"],
    )
    t.send(
        "UPDATE rating_assignments SET number = number + 1 WHERE study = :study AND rater = :rater AND state = 'open'",
        study=row["study"],
        rater=row["rater"],
    )
    fill(t, row, 1)


def assign(t: Transaction, study: Study, rater: str, found: Standing, total: int, now: float) -> Row | None:
    """Assign a new item to a rater; returns the merged row of assignment and item, or None if no item is left.

    A rater who has begun gets a full set, even if all systems already have as many ratings as the study wants.

    :param found: the progress of the rater and the study.
    :param total: how many items the rater gets, gold checks included.
    """
    number = found.count(DONE) + 1
    if number == 1 and has_enough(study, found.arms):
        return None
    draw = _random(study.seed, rater, number)
    item = _pick(t, study, rater, found, draw, is_check=False)
    # A late answer can shift an item to the place of a check, which then comes next.
    is_due = _checks(found) < sum(place <= number for place in check_places(study, rater, total))
    if is_due and (item or number > 1):  # nobody starts just for a check
        item = _pick(t, study, rater, found, draw, is_check=True) or item
    if item is None and number == 1:
        item = _pick_again(t, study, rater, found, draw)
    if item is None:
        return None
    side = _side(found, item["arm"]) if _swaps(study) else 0
    row: dict[str, Any] = {
        "id": secrets.token_hex(16),
        "study": study.name,
        "version": study.version,
        "rater": rater,
        **{key: item[key] for key in ("place", "arm", "subject", "is_check")},
        "number": number,
        "swapped": draw.randrange(2) if side is None else side,
        "opened": now,
        "deadline": now + 60 * study.minutes,
    }
    columns = ", ".join(row)
    t.send(f"INSERT INTO rating_assignments ({columns}, state) VALUES (:{', :'.join(row)}, 'open')", **row)
    fill(t, row, 1)
    return {**item, **row}


def _pick_again(t: Transaction, study: Study, rater: str, found: Standing, draw: random.Random) -> Row | None:
    """An item whose subject the rater has had before, for one who has answered nothing and for whom nothing is left.

    Models that were down, or a new version of the study that came in between, must not lock a rater out. A rater who
    has answered something can finish without them.
    """
    given_back = ["state = 'back'"] if study.kind == "chat" else []
    for which in (*given_back, "state = 'late' AND version <> :version"):
        sql = f"UPDATE rating_assignments SET subject = id WHERE study = :study AND rater = :rater AND {which}"
        t.send(sql, study=study.name, rater=rater, version=study.version)
        if item := _pick(t, study, rater, found, draw, is_check=False):
            return item
    return None


def check_places(study: Study, rater: str, total: int) -> frozenset[int]:
    """The numbers of a rater's items, from 1, at which gold checks are due."""
    return frozenset(_random(study.seed, rater, 0).sample(range(1, total + 1), study.checks_per_rater))


def _checks(found: Standing) -> int:
    """How many gold checks a rater has, open or answered."""
    return sum(found.count(OPEN, DONE, arm=row["arm"]) for row in found.arms if row["is_check"])


def _pick(t: Transaction, study: Study, rater: str, found: Standing, draw: random.Random, is_check: bool) -> Row | None:
    """An item of the first arm that has one: first the arms that the rater has seen least, then those with the fewest
    ratings.
    """
    arms = _shuffled((row for row in found.arms if row["is_check"] == is_check), draw)
    in_order = sorted(arms, key=lambda row: (found.count(OPEN, DONE, arm=row["arm"]), row["filled"]))
    picked = (_pick_item(t, study, rater, draw, row["arm"], is_check) for row in in_order)
    return next((item for item in picked if item is not None), None)


def _pick_item(t: Transaction, study: Study, rater: str, draw: random.Random, arm: str, is_check: bool) -> Row | None:
    """The item of an arm with the fewest ratings, among those new to the rater; ties are broken by lot."""
    return t.row(
        _PICK,
        study=study.name,
        version=study.version,
        arm=arm,
        rater=rater,
        quota=UNLIMITED if is_check or study.ratings_per_item is None else study.ratings_per_item,
        start=draw.random() if study.shuffled else 0.0,
    )


def _side(found: Standing, arm: str) -> int | None:
    """Whether the next pair must be swapped to balance the sides (1 or 0); None if they are balanced."""
    count = next(row for row in found.arms if row["arm"] == arm)
    straight = count["filled"] - count["swapped"]
    return None if straight == count["swapped"] else int(straight > count["swapped"])


def _swaps(study: Study) -> bool:
    return study.kind == "pairwise" and study.swap_sides


def lots(study: Study, count: int) -> list[float]:
    """The lots of a new study's items: random, 0 to 1, or ascending from 1 to keep the order of the logs."""
    draw = _random(study.version)
    return [draw.random() if study.shuffled else 1.0 + place for place in range(count)]


def _random(*what: object) -> random.Random:
    """A random number generator seeded with ``what``, the same on every machine."""
    text = "\n".join(map(str, what))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def _shuffled(rows: Iterable[Row], draw: random.Random) -> list[Row]:
    rows = list(rows)
    draw.shuffle(rows)
    return rows
