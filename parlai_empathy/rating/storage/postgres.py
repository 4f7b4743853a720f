"""A store's database on a PostgreSQL server."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.rating.storage.database import Answer, Database, Transaction

_NAME = re.compile(r"(?<!:):([a-z_]+)")
_TIMEOUTS = {"connect_timeout": 10, "tcp_user_timeout": 30_000, "keepalives_idle": 30, "keepalives_interval": 10}
"""When to give up, unless the URL says otherwise: in seconds, ``tcp_user_timeout`` in milliseconds.

Writers queue, so one connection to a server whose computer has vanished would hold up all of them for a quarter of an
hour. The last two are for a connection that only waits for an answer.
"""

_TWO_ATS = re.compile("[^:]+://[^/?]*@[^/?]*@")
"""The beginning of a URL with an @ in its password, whose end libpq would take for the host's name."""


class _PipelineTransaction(Transaction):
    """A transaction that sends its statements to the server in a pipeline."""

    def __init__(self, connection: Any, pipeline: Any) -> None:
        super().__init__(connection)
        self._pipeline = pipeline

    def ask(self, sql: str, **values: object) -> Answer:
        """Send a statement that returns rows."""
        return functools.cache(self._execute(sql, values).fetchall)  # waits at the first call

    def run(self, sql: str, **values: object) -> int:
        """Run a statement that returns no rows, and return how many rows it changed."""
        cursor = self._execute(sql, values)
        self._pipeline.sync()
        return int(cursor.rowcount)

    def _spelled(self, sql: str) -> str:
        return _with_percent(sql)


class PostgresDatabase(Database):
    """A database on a PostgreSQL server.

    :raises OptionError: if the URL is malformed, as by an unescaped character in the password.
    :raises MissingDependencyError: without psycopg.
    """

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
        if not self._is_valid(url):  # the message must quote neither the URL nor psycopg's error: it has the password
            raise OptionError(
                "--store postgresql://...: expected postgresql://user:password@host/name; in a password, write @ : / ? "
                "and # as %40, %3A, %2F, %3F and %23"
            )

    def _is_valid(self, url: str) -> bool:
        try:
            port = self._psycopg.conninfo.conninfo_to_dict(url).get("port") or ""
        except self._psycopg.ProgrammingError:
            return False
        return set(str(port)) <= set("0123456789,") and not _TWO_ATS.match(url)

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._psycopg.Error,)

    def _connect(self) -> Any:
        from psycopg.rows import dict_row

        parameters: dict[str, Any] = {**_TIMEOUTS, **self._psycopg.conninfo.conninfo_to_dict(self._url)}
        return self._psycopg.connect(**parameters, autocommit=True, row_factory=dict_row)

    def _check(self, connection: Any) -> None:
        for _ in range(2):  # a server may send a reason before it closes: only the second read notices the closing
            connection.pgconn.consume_input()

    @contextmanager
    def _begun(self, connection: Any, writes: bool) -> Iterator[Transaction]:
        with connection.pipeline() as pipeline:
            # Each statement sees what was committed before it, so a transaction that waited for a lock sees the writes
            # of those that held it before.
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED" if writes else "BEGIN READ ONLY")
            yield _PipelineTransaction(connection, pipeline)
            connection.execute("COMMIT")  # the pipeline's end waits for it

    def lock_schema(self, transaction: Transaction) -> None:
        """Take a lock: if two processes create the same table at once, one of them gets an error."""
        transaction.rows("SELECT pg_advisory_xact_lock(7237281145)")


def without_password(url: str) -> str:
    """A server's URL without its password, for messages."""
    return re.sub(r"(://[^:/@]*):(?:[^/]*|[^?]*)@", r"\1:...@", re.sub(r"password=[^&]*", "password=...", url))


@functools.cache
def _with_percent(sql: str) -> str:
    return _NAME.sub(r"%(\1)s", sql)
