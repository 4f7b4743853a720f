"""SQLite: files that are not stores or cannot be written, and durability after a power cut."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.storage.sqlite import SqliteDatabase
from parlai_empathy.rating.storage.store import open_store


def test_non_sqlite_file_raises_store_error(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("item,rater,rating\n" * 100)
    with pytest.raises(StoreError, match=r"the store .*x.db failed \(file is not a database\)") as caught:
        open_store(str(path))
    assert "\n" not in str(caught.value)


def test_unopenable_file_raises_store_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*arguments: object, **options: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(StoreError, match="unable to open database file"):
        open_store(str(tmp_path / "x.db"))


def test_commits_are_flushed_to_disk(tmp_path: Path) -> None:
    """What is acknowledged must survive a power cut: the log is flushed at each commit (2 is FULL)."""
    with SqliteDatabase(tmp_path / "x.db").transaction(writes=False) as t:
        assert t.row("PRAGMA synchronous") == {"synchronous": 2}
        assert t.row("PRAGMA journal_mode") == {"journal_mode": "wal"}
