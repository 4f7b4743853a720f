"""Who gets which item next. All of it happens inside a transaction that has the study for itself.

What is promised:

- No rater is given a subject again: not the item, nor another system's reply in the same context. (The table's key
  says so too.) What timed out may come back to its own rater, as the same assignment, if nobody else took it.
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

from parlai_empathy.rating.counting import UNLIMITED, has_enough
from parlai_empathy.rating.database import Row, Transaction
from parlai_empathy.rating.study import Study

OPEN, DONE, LATE, BACK = "open", "done", "late", "back"

_UNSEEN = """NOT EXISTS (SELECT 1 FROM rating_assignments AS seen
    WHERE seen.study = rating_items.study AND seen.rater = :rater AND seen.subject = rating_items.subject)"""
_FREE = """SELECT place, arm, subject, is_check, filled FROM rating_items
    WHERE study = :study AND version = :version AND arm = :arm"""


def release(t: Transaction, study: str, now: float) -> None:
    """Take back what was not answered in time."""
    late = t.rows(
        "SELECT * FROM rating_assignments WHERE study = :study AND state = 'open' AND deadline < :now",
        study=study,
        now=now,
    )
    for row in late:
        leave(t, row, LATE, now)


def leave(t: Transaction, row: Row, state: str, now: float) -> None:
    """End an open assignment without an answer."""
    t.run(
        "UPDATE rating_assignments SET state = :state, closed = :now WHERE id = :id", state=state, now=now, id=row["id"]
    )
    fill(t, row, -1)


def fill(t: Transaction, row: Row, step: int) -> None:
    """Count an assignment in (1) or out (-1), and draw another lot for its item."""
    values = {"study": row["study"], "version": row["version"], "arm": row["arm"], "step": step}
    t.run(
        "UPDATE rating_items SET filled = filled + :step, lot = CASE WHEN lot < 1 THEN :lot ELSE lot END "
        "WHERE study = :study AND version = :version AND place = :place AND arm = :arm",
        **values,
        place=row["place"],
        lot=_random(row["version"], row["place"], row["rater"], row["number"], step).random(),
    )
    t.run(
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
    own = t.rows(
        "SELECT count(*) AS many FROM rating_assignments "
        "WHERE study = :study AND rater = :rater AND state IN ('open', 'done')",
        study=study.name,
        rater=row["rater"],
    )[0]["many"]
    if row["version"] != study.version or own >= total:
        return False
    item = t.row(
        "SELECT filled, quota FROM rating_items WHERE study = :study AND version = :version AND place = :place",
        study=study.name,
        version=row["version"],
        place=row["place"],
    )
    if item is None or item["filled"] >= item["quota"]:
        return False
    return not _is_pair(study) or not study.swap_sides or _side(t, study, row["arm"]) in (None, row["swapped"])


def resume(t: Transaction, row: Row, number: int, now: float, deadline: float) -> None:
    """Open an assignment that timed out again."""
    t.run(
        "UPDATE rating_assignments SET state = 'open', closed = NULL, number = :number, deadline = :deadline, "
        "opened = :now WHERE id = :id",
        number=number,
        deadline=deadline,
        now=now,
        id=row["id"],
    )
    fill(t, row, 1)


def assign(t: Transaction, study: Study, rater: str, number: int, total: int, now: float) -> Row | None:
    """Give a rater a new item; returns the assignment's row, or None if there is none to give.

    A rater who has begun gets a full set, even when all systems have as many ratings as the study wants.

    :param number: which of the rater's items it is, from 1.
    :param total: how many the rater is to have, gold checks counted.
    """
    if number == 1 and has_enough(t, study):
        return None
    draw = _random(study.seed, rater, number)
    item = None
    if number in check_places(study, rater, total):
        item = _pick(t, study, rater, draw, is_check=True)
    item = item or _pick(t, study, rater, draw, is_check=False)
    if item is None:
        return None
    side = _side(t, study, item["arm"]) if _is_pair(study) and study.swap_sides else 0
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
    t.run(
        f"INSERT INTO rating_assignments ({columns}, state) VALUES (:{', :'.join(row)}, 'open')",
        **row,
    )
    fill(t, row, 1)
    return row


def check_places(study: Study, rater: str, total: int) -> frozenset[int]:
    """Which of a rater's items are gold checks, counted from 1."""
    return frozenset(_random(study.seed, rater, 0).sample(range(1, total + 1), study.checks_per_rater))


def _pick(t: Transaction, study: Study, rater: str, draw: random.Random, is_check: bool) -> Row | None:
    """An item of the first arm that has one: those that the rater has met least, then those with the fewest ratings."""
    arms = t.rows(
        """SELECT arm, filled, (SELECT count(*) FROM rating_assignments AS own WHERE own.study = :study
            AND own.rater = :rater AND own.arm = rating_arms.arm AND own.state IN ('open', 'done')) AS met
        FROM rating_arms WHERE study = :study AND version = :version AND is_check = :is_check ORDER BY arm""",
        study=study.name,
        version=study.version,
        rater=rater,
        is_check=int(is_check),
    )
    in_order = sorted(_shuffled(arms, draw), key=lambda row: (row["met"], row["filled"]))
    found = (_pick_of_arm(t, study, rater, draw, row["arm"], is_check) for row in in_order)
    return next((item for item in found if item is not None), None)


def _pick_of_arm(t: Transaction, study: Study, rater: str, draw: random.Random, arm: str, is_check: bool) -> Row | None:
    """An item with the fewest ratings, of those that the rater has not met; which one, the lots decide."""
    quota = UNLIMITED if is_check or study.ratings_per_item is None else study.ratings_per_item
    values = {"study": study.name, "version": study.version, "arm": arm, "rater": rater, "quota": quota}
    least = t.row(f"{_FREE} AND filled < :quota AND {_UNSEEN} ORDER BY filled, lot LIMIT 1", **values)
    if least is None or not study.shuffled:
        return least
    # From a place of the rater's own onwards, round to the beginning: quick however many items there are.
    level = f"{_FREE} AND filled = :level AND {_UNSEEN}"
    del values["quota"]
    later = t.row(
        f"{level} AND lot >= :start ORDER BY lot LIMIT 1", **values, level=least["filled"], start=draw.random()
    )
    return later or least


def _side(t: Transaction, study: Study, arm: str) -> int | None:
    """Whether the next pair is to be swapped, so that both sides are equally frequent; None if they are."""
    count = t.rows(
        "SELECT filled, swapped FROM rating_arms WHERE study = :study AND version = :version AND arm = :arm",
        study=study.name,
        version=study.version,
        arm=arm,
    )[0]
    straight = count["filled"] - count["swapped"]
    return None if straight == count["swapped"] else int(straight > count["swapped"])


def _is_pair(study: Study) -> bool:
    return study.kind == "pairwise"


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
