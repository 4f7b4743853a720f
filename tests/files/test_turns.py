"""Threads and processes write to a folder one at a time."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from parlai_empathy.files.turns import own_turn


def test_second_thread_waits_for_the_lock(tmp_path: Path) -> None:
    seen: list[str] = []

    def second() -> None:
        with own_turn(tmp_path):
            seen.append("second")

    thread = threading.Thread(target=second)
    with own_turn(tmp_path):
        thread.start()
        thread.join(0.3)
        seen.append("first")
    thread.join()
    assert seen == ["first", "second"]


def test_locks_of_different_folders_are_independent(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with own_turn(tmp_path), own_turn(tmp_path / "a"):
        pass


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), own_turn(tmp_path):
        raise KeyError
    with own_turn(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_no_waiting_where_locks_are_unsupported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_turn(tmp_path / "not there"):
        pass
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with own_turn(tmp_path), own_turn(tmp_path):
        pass
