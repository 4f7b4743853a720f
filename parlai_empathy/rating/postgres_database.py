"""A store's database on a server: PostgreSQL."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.rating.database import Answer, Database, Transaction

_NAME = re.compile(r"(?<!:):([a-z_]+)")


class _PipelineTransaction(Transaction):
    """One whose statements go to the server together."""

    def __init__(self, connection: Any, pipeline: Any) -> None:
        super().__init__(connection)
        self._pipeline = pipeline

    def ask(self, sql: str, **values: object) -> Answer:
        """Send a statement that gives rows."""
        return functools.cache(self._execute(sql, values).fetchall)  # it waits, unless the rows are there already

    def run(self, sql: str, **values: object) -> int:
        """Run a statement that gives no rows."""
        cursor = self._execute(sql, values)
        self._pipeline.sync()
        return int(cursor.rowcount)

    def _spelled(self, sql: str) -> str:
        return _with_percent(sql)


class PostgresDatabase(Database):
    """A server."""

    def __init__(self, url: str) -> None:
        super().__init__(without_password(url))
        self._url = url
        try:
            import psycopg
        except ImportError as error:
            raise MissingDependencyError(
                'a store in PostgreSQL needs psycopg: pip install "parlai-empathy[rating]"'
            ) from error
        self._psycopg = psycopg

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._psycopg.Error,)

    def _connect(self) -> Any:
        from psycopg.rows import dict_row

        return self._psycopg.connect(self._url, autocommit=True, row_factory=dict_row, connect_timeout=10)

    def _check(self, connection: Any) -> None:
        for _ in range(2):  # a server that hangs up may have said why: only the second look finds it gone
            connection.pgconn.consume_input()

    @contextmanager
    def _begun(self, connection: Any, writes: bool) -> Iterator[Transaction]:
        with connection.pipeline() as pipeline:
            # Each statement sees what others have committed before it: a transaction that has waited for a lock goes
            # on with what those before it left.
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED" if writes else "BEGIN READ ONLY")
            yield _PipelineTransaction(connection, pipeline)
            connection.execute("COMMIT")  # the pipeline's end waits for it

    def lock_schema(self, transaction: Transaction) -> None:
        """Two servers that make the same table at once would meet an error otherwise."""
        transaction.rows("SELECT pg_advisory_xact_lock(7237281145)")


def without_password(url: str) -> str:
    """A server's URL that may be shown."""
    return re.sub(r"(://[^:/@]*):[^?]*@", r"\1:...@", re.sub(r"password=[^&]*", "password=...", url))


@functools.cache
def _with_percent(sql: str) -> str:
    return _NAME.sub(r"%(\1)s", sql)
