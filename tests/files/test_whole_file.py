"""Atomic writes: a file is complete, or does not exist."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from full_disk import full_disk

from parlai_empathy.files.whole_file import remedy, whole_file, write_whole


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_file_is_there_when_it_is_whole_and_nothing_else(tmp_path: Path, is_shared: bool) -> None:
    (path := tmp_path / "a.json").write_text("old")
    with whole_file(path, is_shared) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
        assert str(os.getpid()) in unfinished.name or not is_shared
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_on_an_error_nothing_is_left(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "a.json") as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_written_over(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.json") as unfinished:
        unfinished.write_text("whole")
        left = unfinished
    left.write_text("half")
    with whole_file(tmp_path / "a.json") as unfinished:
        unfinished.write_text("again")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["again"]


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (folder := tmp_path / "elsewhere").mkdir()
    (folder / "a.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(folder / "a.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert [path.read_text() for path in folder.iterdir()] == ["new"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        write_whole(pipe, "whole")
        assert reader.communicate(timeout=20)[0] == "whole"
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_text_is_there_when_it_is_whole(tmp_path: Path) -> None:
    write_whole(path := tmp_path / "a.txt", "né\n")
    assert path.read_bytes() == "né\n".encode()
    with full_disk(3), pytest.raises(OSError, match="File too large"):
        write_whole(path, "longer than that")
    assert path.read_bytes() == "né\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_two_processes_may_write_a_text_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write = tmp_path / "a.txt", Path.write_text
    code = "import pathlib, sys; from parlai_empathy.files import whole_file; "
    code += "whole_file.write_whole(pathlib.Path(sys.argv[1]), 'x')"

    def write_beside(self: Path, *text: Any, **how: Any) -> int:
        written = write(self, *text, **how)
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert path.read_text() == "x"
        return written

    monkeypatch.setattr(Path, "write_text", write_beside)
    write_whole(path, "last")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["last"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, "make room, or name another file"),
        (errno.EDQUOT, "make room, or name another file"),
        (errno.EACCES, "name another file"),
    ],
)
def test_on_a_full_disk_room_helps_too(number: int, expected: str) -> None:
    assert remedy(OSError(number, "it says why"), "name another file") == expected


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file")
    with pytest.raises(NotADirectoryError), whole_file(tmp_path / "a" / "b") as unfinished:
        unfinished.write_text("new")
