"""A small common interface to the two databases that can hold a store: connections and transactions.

Each statement is written once, in SQL that both databases understand, with ``:name`` placeholders.
:mod:`~parlai_empathy.rating.storage.sqlite` and :mod:`~parlai_empathy.rating.storage.postgres` contain only what
differs: how to connect, how to begin a transaction, and how placeholders are written. A database toolkit would be a
larger dependency, and its own handling of SQLite's transactions would have to be disabled; SQLite needs no dependency.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from parlai_empathy.errors import StoreError, one_line

Row = Mapping[str, Any]
Answer = Callable[[], list[Row]]


class Transaction:
    """A transaction: all of its statements take effect, or none.

    To save round trips to a server, :meth:`ask` and :meth:`send` do not wait: their statements are sent in order,
    together with the next one whose result is waited for. Errors are raised at that point.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def ask(self, sql: str, **values: object) -> Answer:
        """Send a statement that returns rows; the returned function waits for them."""
        rows = self._execute(sql, values).fetchall()
        return lambda: rows

    def send(self, sql: str, **values: object) -> None:
        """Send a statement that returns no rows."""
        self._execute(sql, values)

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Run a statement and return its rows."""
        return self.ask(sql, **values)()

    def row(self, sql: str, **values: object) -> Row | None:
        """Run a statement and return its first row, or None."""
        return next(iter(self.rows(sql, **values)), None)

    def run(self, sql: str, **values: object) -> int:
        """Run a statement that returns no rows, and return how many rows it changed."""
        return int(self._execute(sql, values).rowcount)

    def run_many(self, sql: str, values: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each set of values."""
        self._connection.cursor().executemany(self._spelled(sql), values)

    def _execute(self, sql: str, values: Mapping[str, object]) -> Any:
        return self._connection.execute(self._spelled(sql), values)

    def _spelled(self, sql: str) -> str:
        """The statement with the placeholders of the database's library."""
        return sql


class Database(ABC):
    """A pool of connections to a database. Each serves one thread at a time, and is then kept for reuse.

    :param name: for error messages; without a password.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._idle: list[Any] = []
        self._lock = threading.Lock()
        # Writers run one at a time anyway. Threads queue here: SQLite would make them sleep and retry, and a server
        # would need a connection for each.
        self._writer = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def transaction(self, writes: bool = True) -> Iterator[Transaction]:
        """A transaction; its writes are durable once the ``with`` block has ended.

        :param writes: whether it writes. Such transactions run one at a time within a process; with SQLite, across all
            processes.
        :raises StoreError: if the database fails. Nothing was written, unless the connection broke during the commit.
        """
        with self._writer if writes else nullcontext():
            connection = self._kept() or self._connected()
            try:
                with self._begun(connection, writes) as transaction:
                    yield transaction
            except self._errors as error:
                self._abandon(connection)
                raise StoreError(self._failed(error)) from error
            except BaseException:
                self._undo(connection)
                raise
            self._keep(connection)

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _kept(self) -> Any:
        """An idle connection that still works; None if there is none."""
        while (connection := self._popped()) is not None:
            try:
                self._check(connection)
                return connection
            except self._errors:
                self._abandon(connection)
        return None

    def _popped(self) -> Any:
        with self._lock:
            if self._process != os.getpid():  # a forked process must not use its parent's connections
                self._idle, self._process = [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _connected(self) -> Any:
        try:
            return self._connect()
        except self._errors as error:
            raise StoreError(self._failed(error)) from error

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
        return f"the store {self.name} failed ({one_line(error)}): fix this and try again; nothing is stored twice"

    @property
    @abstractmethod
    def _errors(self) -> tuple[type[Exception], ...]:
        """The exceptions that the database's library raises."""

    @abstractmethod
    def _connect(self) -> Any:
        """Open a new connection, outside any transaction."""

    @abstractmethod
    def _check(self, connection: Any) -> None:
        """Raise an error if a connection has been closed since its last use."""

    @abstractmethod
    def _begun(self, connection: Any, writes: bool) -> AbstractContextManager[Transaction]:
        """A transaction that is committed unless the ``with`` block raises."""

    @abstractmethod
    def lock_schema(self, transaction: Transaction) -> None:
        """Keep other processes from creating tables until the transaction ends."""
