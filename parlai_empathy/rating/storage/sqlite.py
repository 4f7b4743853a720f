"""A store's database in an SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parlai_empathy.rating.storage.database import Database, Transaction

PATIENCE = 60.0
"""Seconds that a transaction waits for another process that is writing, before it fails."""


class SqliteDatabase(Database):
    """A database in an SQLite file. With its write-ahead log, readers and the writer do not block each other."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path

    @property
    def is_there(self) -> bool:
        """Whether the file exists."""
        return self._path.exists()

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error,)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.row_factory = _as_dict
        self._use_log(connection)
        connection.execute("PRAGMA synchronous = FULL")  # acknowledged writes survive a power failure
        return connection

    def _use_log(self, connection: sqlite3.Connection) -> None:
        """Enable the write-ahead log. Retries, since SQLite fails immediately if two processes do so at once."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def _check(self, connection: Any) -> None:
        """Do nothing: a connection to a file does not break."""

    @contextmanager
    def _begun(self, connection: Any, writes: bool) -> Iterator[Transaction]:
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        yield Transaction(connection)
        connection.execute("COMMIT")

    def lock_schema(self, transaction: Transaction) -> None:
        """Do nothing: a write transaction is already exclusive."""


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((column[0] for column in cursor.description), row, strict=True))
