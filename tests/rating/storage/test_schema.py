"""The tables of a store, and the upgrade of stores of earlier versions."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.storage import schema
from parlai_empathy.rating.storage.schema import FORMAT, prepare
from parlai_empathy.rating.storage.store import open_database


def test_store_of_earlier_format_is_upgraded(store_url: str) -> None:
    database = open_database(store_url)
    prepare(database)
    with database.transaction() as t:
        t.run("DROP TABLE rating_seats")
        t.run("DROP TABLE rating_meetings")
        t.run("UPDATE rating_store SET format = 1")
        t.run("INSERT INTO rating_studies VALUES ('herons', 'v', 7)")
    for _ in range(2):
        prepare(database)
        with database.transaction(writes=False) as t:
            assert t.rows("SELECT * FROM rating_seats") == t.rows("SELECT * FROM rating_meetings") == []
            assert t.rows("SELECT turn FROM rating_studies")[0]["turn"] == 7  # existing data is kept
            assert max(row["format"] for row in t.rows("SELECT format FROM rating_store")) == FORMAT
    database.close()


def test_store_of_later_format_raises_store_error(store_url: str) -> None:
    database = open_database(store_url)
    prepare(database)
    with database.transaction() as t:
        t.run("INSERT INTO rating_store VALUES (:format)", format=FORMAT + 1)
    message = f"has format {FORMAT + 1}, but this program reads format {FORMAT}: update parlai-empathy"
    with pytest.raises(StoreError, match=message):
        prepare(database)
    database.close()


def test_tables_made_by_another_process_are_kept(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes find no tables; when it is the second one's turn, they exist and are in use."""
    database = open_database(store_url)
    prepare(database)
    find, found = schema._formats, [[]]
    monkeypatch.setattr(schema, "_formats", lambda database: found.pop() if found else find(database))
    monkeypatch.setattr(schema, "TABLES", (schema.TABLES[0], "MAKE TROUBLE"))
    prepare(database)
    assert not found
    database.close()
