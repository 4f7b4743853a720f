"""Where ratings are kept: a file, or a PostgreSQL server. A store holds as many studies as you like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parlai_empathy.errors import OptionError, StoreError
from parlai_empathy.rating.database import Database, Transaction
from parlai_empathy.rating.names import STORE
from parlai_empathy.rating.postgres_database import PostgresDatabase, without_password
from parlai_empathy.rating.schema import prepare
from parlai_empathy.rating.sqlite_database import SqliteDatabase


class Store:
    """An open store, for all threads of this process.

    :param database: where it lies.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def name(self) -> str:
        """The file, or the server's URL without its password."""
        return self._database.name

    @contextmanager
    def writing(self, study: str, version: str | None = None) -> Iterator[Transaction]:
        """A transaction that no other one of the same study runs beside.

        :param version: of the study that must be the present one; None for any.
        :raises StoreError: at its end, with nothing written, if another version is.
        """
        with self._database.transaction() as transaction:
            transaction.send("UPDATE rating_studies SET turn = turn + 1 WHERE study = :study", study=study)
            sql = "SELECT version FROM rating_studies WHERE study = :study"
            present = None if version is None else transaction.ask(sql, study=study)
            yield transaction
            # Looked at last, so that a server far away is not waited for once more.
            if present is not None and (now := present()[0]["version"]) != version:
                raise StoreError(
                    f"the store {self.name} has version {now} of the study {study} by now, and this program has "
                    f"version {version}: stop it, and go on with the one that has the new version"
                )

    @contextmanager
    def starting(self, study: str, version: str) -> Iterator[Transaction]:
        """The same, of a study that the store need not know yet; ``version`` becomes its present one."""
        with self._database.transaction() as transaction:
            values = {"study": study, "version": version}
            transaction.run("INSERT INTO rating_studies VALUES (:study, :version, 0) ON CONFLICT DO NOTHING", **values)
            transaction.run(
                "UPDATE rating_studies SET turn = turn + 1, version = :version WHERE study = :study", **values
            )
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that only reads."""
        with self._database.transaction(writes=False) as transaction:
            yield transaction

    def close(self) -> None:
        """Let go of it. Everything that was acknowledged is there already."""
        self._database.close()


def open_store(url: str = STORE, may_make: bool = True) -> Store:
    """Open a store, or make one.

    :param url: a file, or ``postgresql://user:password@host/name``.
    :param may_make: whether a file may be made; who only reads wants one that is there.
    :raises OptionError: if ``url`` names neither, or a file that is not there and may not be made.
    :raises StoreError: if there is something else, or the server cannot be reached.
    :raises MissingDependencyError: if PostgreSQL's library is missing.
    """
    database = open_database(str(url))
    if not may_make and isinstance(database, SqliteDatabase) and not database.is_there:
        raise OptionError(f"--store {url}: there is no such file: name the one that ratings were kept in")
    prepare(database)
    return Store(database)


def open_database(url: str) -> Database:
    """The database that a store lies in.

    :param url: a file, which need not be there yet, or ``postgresql://user:password@host/name``.
    :raises OptionError: for another kind of URL, or a file whose folder is missing.
    :raises MissingDependencyError: if PostgreSQL's library is missing.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(url)
    if "://" in url:
        raise OptionError(f"--store {without_password(url)}: expected a file, or postgresql://user@host/name")
    path = Path(url).expanduser()
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise OptionError(f"--store {url}: expected a file in a folder that is there")
    return SqliteDatabase(path)
