"""The ledger of requests to Mechanical Turk: each step is recorded in the ratings store before and after it is taken.

A step that was begun but not finished may have been taken or not: the process may have died in between. Callers then
check with Mechanical Turk first, and repeat the step with the same token.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from parlai_empathy.rating.storage.database import Row
from parlai_empathy.rating.storage.store import Store

_TABLE = """CREATE TABLE IF NOT EXISTS rating_crowd_steps (
    kind TEXT NOT NULL, key TEXT NOT NULL, batch TEXT NOT NULL, content TEXT NOT NULL,
    begun DOUBLE PRECISION NOT NULL, done DOUBLE PRECISION, result TEXT, PRIMARY KEY (kind, key))"""


class Step(NamedTuple):
    """A request to Mechanical Turk.

    :param kind: ``batch``, ``hit``, ``approve``, ...
    :param key: unique within its kind.
    :param content: as recorded the first time.
    :param is_new: whether it was just recorded for the first time.
    :param result: Mechanical Turk's result, or empty; None if it is unknown whether the step was taken.
    """

    kind: str
    key: str
    content: dict[str, Any]
    is_new: bool
    result: str | None

    @property
    def is_done(self) -> bool:
        """Whether it is known to have been taken."""
        return self.result is not None


class Ledger:
    """The steps recorded in a store.

    :param clock: returns the time in seconds since 1970.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        with store.writing("") as t:
            t.run(_TABLE)

    def begin(self, kind: str, key: str, batch: str, content: Mapping[str, Any] | None = None) -> Step:
        """Record that a step is about to be taken; an earlier record of the same step is kept unchanged."""
        with self._store.writing("") as t:
            added = t.run(
                "INSERT INTO rating_crowd_steps VALUES (:kind, :key, :batch, :content, :now, NULL, NULL) "
                "ON CONFLICT DO NOTHING",
                kind=kind,
                key=key,
                batch=batch,
                content=json.dumps(dict(content or {}), sort_keys=True),
                now=self._clock(),
            )
            row = t.row("SELECT * FROM rating_crowd_steps WHERE kind = :kind AND key = :key", kind=kind, key=key)
        assert row is not None
        return _step(row, is_new=bool(added))

    def forget(self, kind: str, key: str) -> None:
        """Delete the record of a step, if any; only for steps that were certainly not taken."""
        with self._store.writing("") as t:
            t.run("DELETE FROM rating_crowd_steps WHERE kind = :kind AND key = :key", kind=kind, key=key)

    def finish(self, kind: str, key: str, result: str = "") -> None:
        """Record that a step was taken."""
        with self._store.writing("") as t:
            t.run(
                "UPDATE rating_crowd_steps SET done = :now, result = :result WHERE kind = :kind AND key = :key",
                kind=kind,
                key=key,
                now=self._clock(),
                result=result,
            )

    def steps(self, kind: str, batch: str | None = None) -> list[Step]:
        """The steps of a kind, of one batch or of all, in the order in which they were begun."""
        with self._store.reading() as t:
            rows = t.rows("SELECT * FROM rating_crowd_steps WHERE kind = :kind ORDER BY begun, key", kind=kind)
        return [_step(row, is_new=False) for row in rows if batch in (None, row["batch"])]


def _step(row: Row, is_new: bool) -> Step:
    return Step(row["kind"], row["key"], json.loads(row["content"]), is_new, row["result"])
