"""The guarantees of a transaction, in both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.storage.database import Database
from parlai_empathy.rating.storage.store import open_database


@pytest.fixture
def database(store_url: str) -> Database:
    database = open_database(store_url)
    with database.transaction() as t:
        t.run("CREATE TABLE herons (name TEXT PRIMARY KEY, legs INTEGER)")
    return database


def names(database: Database) -> list[str]:
    with database.transaction(writes=False) as t:
        return [row["name"] for row in t.rows("SELECT name FROM herons ORDER BY name")]


def test_values_round_trip(database: Database) -> None:
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


def test_failed_transaction_is_rolled_back(database: Database) -> None:
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
    with pytest.raises(StoreError, match="failed"):
        put_twice(None)
    assert names(database) == []


def test_queued_statements_run_in_order(database: Database) -> None:
    with database.transaction() as t:
        t.send("INSERT INTO herons VALUES ('a', 1)")
        before = t.ask("SELECT legs FROM herons")
        t.send("UPDATE herons SET legs = 2")
        after, none = t.ask("SELECT legs FROM herons"), t.ask("SELECT legs FROM herons WHERE name = 'b'")
        t.send("UPDATE herons SET legs = 3")
        assert (after(), before(), none()) == ([{"legs": 2}], [{"legs": 1}], [])
        assert after() == [{"legs": 2}]  # answers can be read again
        assert t.run("DELETE FROM herons WHERE legs = 3") == 1
        t.send("INSERT INTO herons VALUES ('c', 4)")
    assert names(database) == ["c"]


@pytest.mark.parametrize("others", [0, 1, 40])
def test_failed_queued_statement_raises_store_error(database: Database, others: int) -> None:
    """The transaction fails and reports why, although nobody waited for the statement that failed."""

    def put_twice() -> None:
        with database.transaction() as t:
            for name in ("a", "a", *(f"b{number}" for number in range(others))):
                t.send("INSERT INTO herons VALUES (:name, 2)", name=name)

    with pytest.raises(StoreError, match=r"(?i)failed \(.*unique"):
        put_twice()
    assert names(database) == []


def test_queued_statements_are_rolled_back_if_block_fails(database: Database) -> None:
    def put_and_fail() -> None:
        with database.transaction() as t:
            t.send("INSERT INTO herons VALUES ('a', 2)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        put_and_fail()
    assert names(database) == []


def test_concurrent_transactions_are_isolated(database: Database) -> None:
    """Each of four threads reads a number and writes it plus one, forty times."""
    with database.transaction() as t:
        t.run("INSERT INTO herons VALUES ('a', 0)")

    def count() -> None:
        for _ in range(40):
            with database.transaction() as t:
                t.run("UPDATE herons SET name = name WHERE name = 'a'")  # takes the lock, as a study's `turn` does
                legs = t.rows("SELECT legs FROM herons")[0]["legs"]
                t.run("UPDATE herons SET legs = :legs", legs=legs + 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.transaction(writes=False) as t:
        assert t.rows("SELECT legs FROM herons")[0]["legs"] == 160


def test_reader_does_not_wait_for_writer(database: Database) -> None:
    with database.transaction() as t:
        t.run("INSERT INTO herons VALUES ('a', 2)")
        assert names(database) == []
    assert names(database) == ["a"]


def test_closed_database_reopens_on_use(database: Database) -> None:
    database.close()
    assert names(database) == []
