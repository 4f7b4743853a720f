"""The two databases that a store can lie in, behind one small face: SQLite in a file, or PostgreSQL by its URL.

Every statement is written once, in the SQL that both speak, with values as ``:name``. Only what differs is here: how
one connects, how a transaction begins, how a value is named. That is less than a toolkit for databases would bring
along, whose own handling of SQLite's transactions would have to be switched off; and SQLite needs no library at all.
"""

from __future__ import annotations

import functools
import os
import re
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, MissingDependencyError, OptionError

Row = Mapping[str, Any]
Answer = Callable[[], list[Row]]

PATIENCE = 60.0
"""Seconds for which a transaction waits for another one that writes, before it gives up."""

_NAME = re.compile(r"(?<!:):([a-z_]+)")


class Transaction:
    """What happens altogether or not at all.

    A server is far away, however near it is: :meth:`ask` and :meth:`send` do not wait for it, so that what they send
    goes to it together, in their order, with whatever is waited for next. A statement that fails shows then.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def ask(self, sql: str, **values: object) -> Answer:
        """Send a statement that gives rows; the function that is returned waits for them."""
        rows = self._execute(sql, values).fetchall()
        return lambda: rows

    def send(self, sql: str, **values: object) -> None:
        """Send a statement that gives no rows."""
        self._execute(sql, values)

    def rows(self, sql: str, **values: object) -> list[Row]:
        """The rows that a statement gives."""
        return self.ask(sql, **values)()

    def row(self, sql: str, **values: object) -> Row | None:
        """The first row, if there is one."""
        return next(iter(self.rows(sql, **values)), None)

    def run(self, sql: str, **values: object) -> int:
        """Run a statement that gives no rows; returns how many rows it has changed."""
        return int(self._execute(sql, values).rowcount)

    def run_many(self, sql: str, values: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each of many values."""
        self._connection.cursor().executemany(self._spelled(sql), values)

    def _execute(self, sql: str, values: Mapping[str, object]) -> Any:
        return self._connection.execute(self._spelled(sql), values)

    def _spelled(self, sql: str) -> str:
        """The statement as the database's library wants it."""
        return sql


class Database(ABC):
    """Connections to a database, each of which serves one thread at a time and is kept for the next.

    :param name: for errors; without a password.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._idle: list[Any] = []
        self._lock = threading.Lock()
        # Who writes waits for the others anyway. Threads do so here: SQLite would have them sleep and try again, and a
        # server would need a connection for each.
        self._writer = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def transaction(self, writes: bool = True) -> Iterator[Transaction]:
        """A transaction: what it has written is there for good once the ``with`` block has ended.

        :param writes: of one that writes no other one of this process runs at the same time, in SQLite of any process.
        :raises DataError: if the database fails; nothing was written then, or the connection broke at the very end.
        """
        with self._writer if writes else nullcontext():
            connection = self._kept() or self._connected()
            try:
                with self._begun(connection, writes) as transaction:
                    yield transaction
            except self._errors as error:
                self._abandon(connection)
                raise DataError(self._failed(error)) from error
            except BaseException:
                self._undo(connection)
                raise
            self._keep(connection)

    def close(self) -> None:
        """Close the connections that nobody uses at the moment."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _kept(self) -> Any:
        """A connection that was kept and is still good; None if there is none."""
        while (connection := self._popped()) is not None:
            try:
                self._check(connection)
                return connection
            except self._errors:
                self._abandon(connection)
        return None

    def _popped(self) -> Any:
        with self._lock:
            if self._process != os.getpid():  # a fork must leave its parent's connections alone
                self._idle, self._process = [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _connected(self) -> Any:
        try:
            return self._connect()
        except self._errors as error:
            raise DataError(self._failed(error)) from error

    def _keep(self, connection: Any) -> None:
        with self._lock:
            self._idle.append(connection)

    def _undo(self, connection: Any) -> None:
        try:
            connection.execute("ROLLBACK")
        except self._errors:
            self._abandon(connection)
        else:
            self._keep(connection)

    def _abandon(self, connection: Any) -> None:
        with suppress(*self._errors):
            connection.close()

    def _failed(self, error: BaseException) -> str:
        reason = " ".join(str(error).split())[:200]
        return f"the store {self.name} fails ({reason}): see to it and try again; nothing is stored twice"

    @property
    @abstractmethod
    def _errors(self) -> tuple[type[Exception], ...]:
        """What the database raises."""

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection, outside any transaction."""

    @abstractmethod
    def _check(self, connection: Any) -> None:
        """Raise an error if a connection has died since it was used."""

    @abstractmethod
    def _begun(self, connection: Any, writes: bool) -> AbstractContextManager[Transaction]:
        """A transaction, which is committed unless the ``with`` block fails."""

    @abstractmethod
    def lock_schema(self, transaction: Transaction) -> None:
        """Let no other process make tables until the transaction ends."""


class SqliteDatabase(Database):
    """A file. Readers and the one who writes do not wait for each other (a write-ahead log beside the file)."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error,)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.row_factory = _as_dict
        self._use_log(connection)
        connection.execute("PRAGMA synchronous = FULL")  # what is acknowledged survives a power cut too
        return connection

    def _use_log(self, connection: sqlite3.Connection) -> None:
        """Ask for the write-ahead log. Where two processes do so at once on a new file, one is refused at once."""
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
        """A file does not hang up."""

    @contextmanager
    def _begun(self, connection: Any, writes: bool) -> Iterator[Transaction]:
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        yield Transaction(connection)
        connection.execute("COMMIT")

    def lock_schema(self, transaction: Transaction) -> None:
        """A transaction that writes is alone already."""


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip((column[0] for column in cursor.description), row, strict=True))


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
        super().__init__(_without_password(url))
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


@functools.cache
def _with_percent(sql: str) -> str:
    return _NAME.sub(r"%(\1)s", sql)


def open_database(url: str) -> Database:
    """The database that a store lies in.

    :param url: a file, which need not be there yet, or ``postgresql://user:password@host/name``.
    :raises OptionError: for another kind of URL, or a file whose folder is missing.
    :raises MissingDependencyError: if PostgreSQL's library is missing.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(url)
    if "://" in url:
        raise OptionError(f"--store {_without_password(url)}: expected a file, or postgresql://user@host/name")
    path = Path(url).expanduser()
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise OptionError(f"--store {url}: expected a file in a folder that is there")
    return SqliteDatabase(path)


def _without_password(url: str) -> str:
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:...@", re.sub(r"password=[^&]*", "password=...", url))
