"""Who gets which item next. All of it happens inside a transaction that has the study for itself.

What is promised:

- No rater is given a subject again: not the item, nor another system's reply in the same context. (The table's key
  says so too.) What timed out may come back to its own rater, as the same assignment, if nobody else took it. Who has
  given all their chats back, and judged none, may talk with a model of theirs once more, in another assignment.
- No item is answered by more raters than its quota.
- Each of a rater's items is from another system, as far as there are systems; of those that the rater has met least,
  the one with the fewest ratings comes first (Rashkin et al. 2019, section 5.2: ten items, each from another random
  model; at least 100 ratings per model), and of its items the one with the fewest. Equals are drawn with the seed.
- A pair's systems are on each side equally often, up to one, as soon as nothing has been abandoned.
- An item that was not answered in time goes back.
"""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Iterable
from typing import Any

from parlai_empathy.rating.counting import UNLIMITED, Standing, ask_standing, has_enough
from parlai_empathy.rating.database import Row, Transaction
from parlai_empathy.rating.study import Study

OPEN, DONE, LATE, BACK = "open", "done", "late", "back"

WITH_ITEM = """SELECT a.*, i.name, i.system, i.other, i.content FROM rating_assignments AS a
    JOIN rating_items AS i ON i.study = a.study AND i.version = a.version AND i.place = a.place"""
"""How a question about assignments begins that asks for their items too."""

_NEW = """SELECT * FROM rating_items WHERE study = :study AND version = :version AND arm = :arm
    AND NOT EXISTS (SELECT 1 FROM rating_assignments AS seen
        WHERE seen.study = rating_items.study AND seen.rater = :rater AND seen.subject = rating_items.subject)"""
# Of the items with the fewest ratings the next one from `start` onwards, round to the beginning: quick however many
# items there are.
_PICK = f"""
    WITH least AS ({_NEW} AND filled < :quota ORDER BY filled, lot LIMIT 1),
    later AS ({_NEW} AND filled = (SELECT filled FROM least) AND lot >= :start ORDER BY lot LIMIT 1)
    SELECT * FROM (SELECT 1 AS choice, later.* FROM later UNION ALL SELECT 2 AS choice, least.* FROM least) AS found
    ORDER BY choice LIMIT 1"""


def standing(t: Transaction, study: Study, rater: str, now: float) -> Standing:
    """Take back what was not answered in time, and say how far a rater and the study are then."""
    sql = "SELECT * FROM rating_assignments WHERE study = :study AND state = 'open' AND deadline < :now"
    late, found = t.ask(sql, study=study.name, now=now), ask_standing(t, study, rater)
    if rows := late():
        for row in rows:
            leave(t, row, LATE, now)
        found = ask_standing(t, study, rater)
    return found()


def leave(t: Transaction, row: Row, state: str, now: float) -> None:
    """End an open assignment without an answer."""
    sql = "UPDATE rating_assignments SET state = :state, closed = :now WHERE id = :id"
    t.send(sql, state=state, now=now, id=row["id"])
    fill(t, row, -1)


def fill(t: Transaction, row: Row, step: int) -> None:
    """Count an assignment in (1) or out (-1), and draw another lot for its item."""
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
    """Whether an assignment that timed out can still be answered: its item is free, its side not too frequent, and its
    rater has not had enough others meanwhile.

    :param total: how many items the rater is to have.
    """
    if row["version"] != study.version:
        return False
    items = t.ask(
        "SELECT filled, quota FROM rating_items WHERE study = :study AND version = :version AND place = :place",
        study=study.name,
        version=row["version"],
        place=row["place"],
    )
    found = ask_standing(t, study, row["rater"])()
    if found.count(OPEN, DONE) >= total or any(item["filled"] >= item["quota"] for item in items()):
        return False
    return not _swaps(study) or _side(found, row["arm"]) in (None, row["swapped"])


def resume(t: Transaction, row: Row, number: int, now: float, deadline: float) -> None:
    """Open an assignment that timed out again."""
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
    """Count an assignment in that had timed out: it is the rater's next one, and what they have in hand comes after."""
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
    """Give a rater a new item; returns the assignment's row with the item's, or None if there is none to give.

    A rater who has begun gets a full set, even when all systems have as many ratings as the study wants.

    :param found: how far the rater and the study are.
    :param total: how many the rater is to have, gold checks counted.
    """
    number = found.count(DONE) + 1
    if number == 1 and has_enough(study, found.arms):
        return None
    draw = _random(study.seed, rater, number)
    item = _pick(t, study, rater, found, draw, is_check=False)
    if number in check_places(study, rater, total) and (item or number > 1):  # nobody begins for a check alone
        item = _pick(t, study, rater, found, draw, is_check=True) or item
    if item is None and study.kind == "chat" and number == 1 and found.count(BACK):
        # Models that were down are to lock nobody out. Who has judged a chat can be done without them.
        _forget_given_back(t, study, rater)
        item = _pick(t, study, rater, found, draw, is_check=False)
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


def _forget_given_back(t: Transaction, study: Study, rater: str) -> None:
    """Let the subjects of what a rater has given back count as not met."""
    sql = "UPDATE rating_assignments SET subject = id WHERE study = :study AND rater = :rater AND state = 'back'"
    t.send(sql, study=study.name, rater=rater)


def check_places(study: Study, rater: str, total: int) -> frozenset[int]:
    """Which of a rater's items are gold checks, counted from 1."""
    return frozenset(_random(study.seed, rater, 0).sample(range(1, total + 1), study.checks_per_rater))


def _pick(t: Transaction, study: Study, rater: str, found: Standing, draw: random.Random, is_check: bool) -> Row | None:
    """An item of the first arm that has one: those that the rater has met least, then those with the fewest ratings."""
    arms = _shuffled((row for row in found.arms if row["is_check"] == is_check), draw)
    in_order = sorted(arms, key=lambda row: (found.count(OPEN, DONE, arm=row["arm"]), row["filled"]))
    picked = (_pick_of_arm(t, study, rater, draw, row["arm"], is_check) for row in in_order)
    return next((item for item in picked if item is not None), None)


def _pick_of_arm(t: Transaction, study: Study, rater: str, draw: random.Random, arm: str, is_check: bool) -> Row | None:
    """An item with the fewest ratings, of those that the rater has not met; which one, the lots decide."""
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
    """Whether the next pair is to be swapped, so that both sides are equally frequent; None if they are."""
    count = next(row for row in found.arms if row["arm"] == arm)
    straight = count["filled"] - count["swapped"]
    return None if straight == count["swapped"] else int(straight > count["swapped"])


def _swaps(study: Study) -> bool:
    return study.kind == "pairwise" and study.swap_sides


def lots(study: Study, count: int) -> list[float]:
    """The lots of a new study's items: 0 to 1, or from 1 upwards where the logs' order is to be kept."""
    draw = _random(study.version)
    return [draw.random() if study.shuffled else 1.0 + place for place in range(count)]


def _random(*what: object) -> random.Random:
    """Numbers that follow from ``what``, on every machine."""
    text = "\n".join(map(str, what))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def _shuffled(rows: Iterable[Row], draw: random.Random) -> list[Row]:
    rows = list(rows)
    draw.shuffle(rows)
    return rows
