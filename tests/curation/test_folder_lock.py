"""Only one run at a time uses a folder, and no lock outlives its process."""

from __future__ import annotations

import builtins
import fcntl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.curation.folder_lock import locked
from parlai_empathy.errors import DataError

OneLine = Callable[..., None]

HOLDER = """
import sys
from pathlib import Path
from parlai_empathy.curation.folder_lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_lock_excludes_other_processes_until_holder_is_killed(tmp_path: Path, assert_one_line: OneLine) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "work")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(DataError) as caught, locked(tmp_path / "work"):
            pass
        assert_one_line(caught.value, f"another run writes to {tmp_path / 'work'}", "wait", "--out")
        holder.kill()
    with locked(tmp_path / "work"):
        pass


def test_lock_is_per_folder_and_released_on_exit(tmp_path: Path) -> None:
    with locked(tmp_path / "a"), locked(tmp_path / "b"):
        pass
    with locked(tmp_path / "a"):
        pass


def test_uncreatable_folder_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    (tmp_path / "a").write_text("a file")
    with pytest.raises(DataError) as caught, locked(tmp_path / "a" / "work"):
        pass
    assert_one_line(caught.value, tmp_path / "a" / "work", "cannot be created", "--out")


def test_lock_is_skipped_on_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with locked(tmp_path), locked(tmp_path):
        pass


def test_lock_is_skipped_on_platform_without_fcntl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "fcntl":
            raise ImportError(name)
        return importing(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with locked(tmp_path), locked(tmp_path):
        pass
