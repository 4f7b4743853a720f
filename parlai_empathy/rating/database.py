"""The small face of the two databases that a store can lie in: connections, and transactions on them.

Every statement is written once, in the SQL that both speak, with values as ``:name``. Only what differs is in
:mod:`~parlai_empathy.rating.sqlite_database` and :mod:`~parlai_empathy.rating.postgres_database`: how one connects, how
a transaction begins, how a value is named. That is less than a toolkit for databases would bring along, whose own
handling of SQLite's transactions would have to be switched off; and SQLite needs no library at all.
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
        :raises StoreError: if the database fails; nothing was written then, or the connection broke at the very end.
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
        return f"the store {self.name} fails ({one_line(error)}): see to it and try again; nothing is stored twice"

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
