"""The two databases: what a transaction promises, and what goes wrong."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from parlai_empathy.errors import DataError, MissingDependencyError, OptionError
from parlai_empathy.rating.database import Database, SqliteDatabase, open_database
from parlai_empathy.rating.schema import FORMAT
from parlai_empathy.rating.store import open_store


@pytest.fixture
def database(store_url: str) -> Database:
    database = open_database(store_url)
    with database.transaction() as t:
        t.run("CREATE TABLE herons (name TEXT PRIMARY KEY, legs INTEGER)")
    return database


def names(database: Database) -> list[str]:
    with database.transaction(writes=False) as t:
        return [row["name"] for row in t.rows("SELECT name FROM herons ORDER BY name")]


def test_values_go_in_and_come_out(database: Database) -> None:
    with database.transaction() as t:
        assert t.run("INSERT INTO herons VALUES (:name, :legs)", name="100% :legs ?", legs=2) == 1
        t.run_many("INSERT INTO herons VALUES (:name, :legs)", [{"name": name, "legs": None} for name in "ab"])
        assert t.row("SELECT * FROM herons WHERE name = :name", name="100% :legs ?") == {
            "name": "100% :legs ?",
            "legs": 2,
        }
        assert t.row("SELECT * FROM herons WHERE name = :name", name="c") is None
        assert t.run("UPDATE herons SET legs = 2 WHERE legs IS NULL") == 2
    assert names(database) == ["100% :legs ?", "a", "b"]


def test_what_fails_leaves_nothing(database: Database) -> None:
    def put_twice(then: Callable[[], object] | None) -> None:
        with database.transaction() as t:
            for _ in range(2):
                t.run("INSERT INTO herons VALUES ('a', 2)")
                if then:
                    then()

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        put_twice(fail)
    assert names(database) == []
    with pytest.raises(DataError, match="fails"):
        put_twice(None)
    assert names(database) == []


def test_what_is_sent_happens_in_its_order(database: Database) -> None:
    with database.transaction() as t:
        t.send("INSERT INTO herons VALUES ('a', 1)")
        before = t.ask("SELECT legs FROM herons")
        t.send("UPDATE herons SET legs = 2")
        after, none = t.ask("SELECT legs FROM herons"), t.ask("SELECT legs FROM herons WHERE name = 'b'")
        t.send("UPDATE herons SET legs = 3")
        assert (after(), before(), none()) == ([{"legs": 2}], [{"legs": 1}], [])
        assert after() == [{"legs": 2}]  # what is answered stays
        assert t.run("DELETE FROM herons WHERE legs = 3") == 1
        t.send("INSERT INTO herons VALUES ('c', 4)")
    assert names(database) == ["c"]


@pytest.mark.parametrize("others", [0, 1, 40])
def test_what_is_sent_and_fails_is_told(database: Database, others: int) -> None:
    """The transaction fails, and says why, although nobody has waited for the statement that did."""

    def put_twice() -> None:
        with database.transaction() as t:
            for name in ("a", "a", *(f"b{number}" for number in range(others))):
                t.send("INSERT INTO herons VALUES (:name, 2)", name=name)

    with pytest.raises(DataError, match=r"(?i)fails \(.*unique"):
        put_twice()
    assert names(database) == []


def test_what_is_sent_goes_if_the_block_fails(database: Database) -> None:
    def put_and_fail() -> None:
        with database.transaction() as t:
            t.send("INSERT INTO herons VALUES ('a', 2)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        put_and_fail()
    assert names(database) == []


def test_transactions_do_not_mix(database: Database) -> None:
    """Forty times in each of four threads, read a number and write it plus one."""
    with database.transaction() as t:
        t.run("INSERT INTO herons VALUES ('a', 0)")

    def count() -> None:
        for _ in range(40):
            with database.transaction() as t:
                t.run("UPDATE herons SET name = name WHERE name = 'a'")  # the lock, as a study's `turn` is
                legs = t.rows("SELECT legs FROM herons")[0]["legs"]
                t.run("UPDATE herons SET legs = :legs", legs=legs + 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.transaction(writes=False) as t:
        assert t.rows("SELECT legs FROM herons")[0]["legs"] == 160


def test_reader_does_not_wait_for_the_one_who_writes(database: Database) -> None:
    with database.transaction() as t:
        t.run("INSERT INTO herons VALUES ('a', 2)")
        assert names(database) == []
    assert names(database) == ["a"]


def test_closed_database_opens_again(database: Database) -> None:
    database.close()
    assert names(database) == []


@pytest.mark.parametrize("writes", [True, False])
def test_broken_connections_are_replaced(postgres: PostgresServer, writes: bool) -> None:
    """Two of them, as after a restart of the server."""
    database = open_database(postgres.new_database())
    with database.transaction() as first, database.transaction(writes=False) as second:
        broken = {t.rows("SELECT pg_backend_pid() AS pid")[0]["pid"] for t in (first, second)}
    assert len(broken) == 2
    with open_database(postgres.url()).transaction() as t:
        for pid in broken:
            t.rows("SELECT pg_terminate_backend(:pid, 10000)", pid=pid)  # returns when it has gone
    with database.transaction(writes) as t:
        assert t.rows("SELECT pg_backend_pid() AS pid")[0]["pid"] not in broken


def test_who_reads_cannot_write_to_a_server(postgres: PostgresServer) -> None:
    database = open_database(postgres.new_database())
    with pytest.raises(DataError, match="read-only"), database.transaction(writes=False) as t:
        t.run("CREATE TABLE herons (name TEXT)")


def test_file_that_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("item,rater,rating\n" * 100)
    with pytest.raises(DataError, match=r"the store .*x.db fails \(file is not a database\)") as caught:
        open_store(str(path))
    assert "\n" not in str(caught.value)


def test_file_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*arguments: object, **options: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(DataError, match="unable to open database file"):
        open_store(str(tmp_path / "x.db"))


def test_store_of_another_format(store_url: str) -> None:
    open_store(store_url)
    with open_database(store_url).transaction() as t:
        t.run("UPDATE rating_store SET format = :next", next=FORMAT + 1)
    with pytest.raises(DataError, match=f"has format {FORMAT + 1}, and this program reads {FORMAT}"):
        open_store(store_url)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me:secret@host/name", "expected a file, or postgresql://user@host/name"),
        ("/nowhere/at/all/ratings.db", "expected a file in a folder that is there"),
        (".", "expected a file in a folder that is there"),
    ],
)
def test_what_is_no_store(url: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        open_store(url)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql://me:secret@127.0.0.1:1/name", "postgresql://127.0.0.1:1/name?user=me&password=secret"]
)
def test_server_that_is_not_there(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(DataError, match="the store postgresql://") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "parlai-empathy\[rating\]"'):
        open_store("postgresql://host/name")


def test_sqlite_waits_for_the_disk(tmp_path: Path) -> None:
    """What is acknowledged must survive a power cut: the log is flushed at each commit (2 is FULL)."""
    with SqliteDatabase(tmp_path / "x.db").transaction(writes=False) as t:
        assert t.row("PRAGMA synchronous") == {"synchronous": 2}
        assert t.row("PRAGMA journal_mode") == {"journal_mode": "wal"}
