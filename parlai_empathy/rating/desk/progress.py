"""Counting assignments: the progress of a study and of a rater."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from parlai_empathy.rating.desk.outcomes import ArmCount, Nothing
from parlai_empathy.rating.storage.database import Row, Transaction
from parlai_empathy.rating.study.study import Study

UNLIMITED = 1_000_000_000
"""The quota of an item without a limit."""


class Standing(NamedTuple):
    """The progress of a rater and of the study.

    :param own: the rater's number of assignments by (state, arm), over all versions of the study.
    :param arms: the rows of the study's arms (systems or pairs), in order.
    """

    own: dict[tuple[str, str], int]
    arms: list[Row]

    def count(self, *states: str, arm: str | None = None) -> int:
        """How many assignments the rater has in these states, for one arm or for all."""
        return sum(many for (state, name), many in self.own.items() if state in states and arm in (None, name))


def query_progress(t: Transaction, study: Study, rater: str) -> Callable[[], Standing]:
    """Query the progress of a rater and of the study; the returned function waits for the result."""
    own = t.ask(
        "SELECT state, arm, count(*) AS many FROM rating_assignments WHERE study = :study AND rater = :rater "
        "GROUP BY state, arm",
        study=study.name,
        rater=rater,
    )
    sql = "SELECT * FROM rating_arms WHERE study = :study AND version = :version ORDER BY arm"
    arms = t.ask(sql, study=study.name, version=study.version)
    return lambda: Standing({(row["state"], row["arm"]): row["many"] for row in own()}, arms())


def has_enough(study: Study, arms: list[Row]) -> bool:
    """Whether every arm has as many ratings as the study wants, open assignments included."""
    goal = study.ratings_per_system
    return goal is not None and all(arm["filled"] >= goal for arm in arms if not arm["is_check"])


def no_item_reason(t: Transaction, study: Study, rater: str, number: int) -> Nothing:
    """Why there is no item for a rater.

    :param number: the number that the rater's next item would have, from 1.
    """
    in_hands = t.row(
        """SELECT 1 AS found FROM rating_assignments AS a
        WHERE study = :study AND version = :version AND state = 'open' AND is_check = 0
        AND NOT EXISTS (SELECT 1 FROM rating_assignments AS seen WHERE seen.study = a.study
            AND seen.rater = :rater AND seen.subject = a.subject)""",
        study=study.name,
        version=study.version,
        rater=rater,
    )
    if in_hands:
        return Nothing.LATER
    return Nothing.DONE if number > 1 else Nothing.COMPLETE


def arm_counts(t: Transaction, study: Study, now: float) -> list[ArmCount]:
    """How many ratings each system or pair has.

    Overdue assignments do not count as open, even if the store still has them in that state.
    """
    values = {"study": study.name, "version": study.version}
    goals = {
        row["arm"]: study.ratings_per_system or (0 if row["quota"] >= UNLIMITED else row["quotas"])
        for row in t.rows(
            """SELECT arm, max(quota) AS quota, sum(quota) AS quotas FROM rating_items
            WHERE study = :study AND version = :version GROUP BY arm""",
            **values,
        )
    }
    arms = t.rows(
        """SELECT r.arm, r.is_check, r.filled - count(a.id) AS done,
            count(CASE WHEN a.deadline >= :now THEN 1 END) AS in_hands
        FROM rating_arms AS r LEFT JOIN rating_assignments AS a
            ON a.study = r.study AND a.version = r.version AND a.arm = r.arm AND a.state = 'open'
        WHERE r.study = :study AND r.version = :version
        GROUP BY r.arm, r.is_check, r.filled ORDER BY r.is_check, r.arm""",
        **values,
        now=now,
    )
    return [
        ArmCount(
            row["arm"],
            bool(row["is_check"]),
            row["done"],
            row["in_hands"],
            0 if row["is_check"] else int(goals[row["arm"]]),
        )
        for row in arms
    ]
