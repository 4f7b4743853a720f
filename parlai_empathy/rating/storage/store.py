"""Opening the store of ratings: an SQLite file, or a PostgreSQL server. A store holds any number of studies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from parlai_empathy.errors import OptionError, StoreError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.rating.names import STORE
from parlai_empathy.rating.storage.database import Database, Transaction
from parlai_empathy.rating.storage.postgres import PostgresDatabase, without_password
from parlai_empathy.rating.storage.schema import prepare
from parlai_empathy.rating.storage.sqlite import SqliteDatabase


class Store:
    """An open store, for all threads of this process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def name(self) -> str:
        """The file, or the server's URL without its password."""
        return self._database.name

    @contextmanager
    def writing(self, study: str, version: str | None = None) -> Iterator[Transaction]:
        """A write transaction; those of the same study run one at a time.

        :param version: the study's version, which must be the store's current one; None for any.
        :raises StoreError: at its end, with nothing written, if the store's current version is another one.
        """
        with self._database.transaction() as transaction:
            transaction.send("UPDATE rating_studies SET turn = turn + 1 WHERE study = :study", study=study)
            sql = "SELECT version FROM rating_studies WHERE study = :study"
            present = None if version is None else transaction.ask(sql, study=study)
            yield transaction
            # Read only at the end, to save a round trip to the server.
            if present is not None and (now := present()[0]["version"]) != version:
                raise StoreError(
                    f"the store {self.name} now has version {now} of the study {study}, but this program has "
                    f"version {version}: restart it with the new version"
                )

    @contextmanager
    def starting(self, study: str, version: str) -> Iterator[Transaction]:
        """A write transaction of a study that may be new to the store; ``version`` becomes its current one."""
        with self._database.transaction() as transaction:
            values = {"study": study, "version": version}
            transaction.run("INSERT INTO rating_studies VALUES (:study, :version, 0) ON CONFLICT DO NOTHING", **values)
            transaction.run(
                "UPDATE rating_studies SET turn = turn + 1, version = :version WHERE study = :study", **values
            )
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction."""
        with self._database.transaction(writes=False) as transaction:
            yield transaction

    def close(self) -> None:
        """Close the idle connections. Everything acknowledged has already been stored."""
        self._database.close()


def open_store(url: str = STORE, may_make: bool = True) -> Store:
    """Open a store, creating it if necessary.

    :param url: a file, or ``postgresql://user:password@host/name``.
    :param may_make: whether a missing file may be created; False for callers that need what is in it.
    :raises OptionError: if ``url`` is neither, or a missing file that may not be created.
    :raises StoreError: if the file is not a store, or the server cannot be reached.
    :raises MissingDependencyError: if PostgreSQL's library is missing.
    """
    database = open_database(str(url))
    if not may_make and isinstance(database, SqliteDatabase) and not database.is_there:
        raise OptionError(f"--store {url}: there is no such file: name the store that has the ratings")
    prepare(database)
    return Store(database)


def open_database(url: str) -> Database:
    """The database of a store.

    :param url: a file, which need not exist yet, or ``postgresql://user:password@host/name``.
    :raises OptionError: for another kind of URL, or a file whose folder is missing.
    :raises MissingDependencyError: if PostgreSQL's library is missing.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(url)
    if "://" in url:
        raise OptionError(f"--store {without_password(url)}: expected a file, or postgresql://user@host/name")
    path = user_path(url)
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise OptionError(f"--store {url}: expected a file in an existing folder")
    return SqliteDatabase(path)
