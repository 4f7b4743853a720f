"""Threads and processes write to a folder one at a time."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from parlai_empathy.files.turns import own_turn


def test_one_after_another(tmp_path: Path) -> None:
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


def test_other_folders_do_not_wait(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with own_turn(tmp_path), own_turn(tmp_path / "a"):
        pass


def test_a_turn_ends_with_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(KeyError), own_turn(tmp_path):
        raise KeyError
    with own_turn(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_without_locks_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_turn(tmp_path / "not there"):
        pass
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with own_turn(tmp_path), own_turn(tmp_path):
        pass
