"""Atomic writes: a file is complete, or does not exist."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from full_disk import full_disk

from parlai_empathy.files.whole_file import remedy, whole_file, write_whole


@pytest.mark.parametrize("is_shared", [False, True])
def test_file_is_replaced_only_when_complete(tmp_path: Path, is_shared: bool) -> None:
    (path := tmp_path / "a.json").write_text("old")
    with whole_file(path, is_shared) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
        assert str(os.getpid()) in unfinished.name or not is_shared
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_error_leaves_no_file(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "a.json") as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_leftover_of_killed_process_is_overwritten(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.json") as unfinished:
        unfinished.write_text("whole")
        left = unfinished
    left.write_text("half")
    with whole_file(tmp_path / "a.json") as unfinished:
        unfinished.write_text("again")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["again"]


def test_symlink_is_kept_and_its_target_written(tmp_path: Path) -> None:
    (folder := tmp_path / "elsewhere").mkdir()
    (folder / "a.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(folder / "a.txt")
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert [path.read_text() for path in folder.iterdir()] == ["new"]


def test_new_file_has_usual_permissions_and_replaced_file_keeps_its_own(tmp_path: Path) -> None:
    (usual := tmp_path / "usual.txt").write_text("written by Python alone")
    write_whole(path := tmp_path / "a.csv", "old")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o600)  # people's answers that nobody else may read
    write_whole(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_private_file_is_private_while_it_is_written(tmp_path: Path, mode: int) -> None:
    (path := tmp_path / "a.csv").write_text("old")
    path.chmod(mode)
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


def test_named_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        write_whole(pipe, "whole")
        assert reader.communicate(timeout=20)[0] == "whole"
    assert list(tmp_path.iterdir()) == [pipe]


def test_unnamed_pipe_is_written_to_by_its_number() -> None:
    """As in ``--out /dev/stdout | less``: the number is a symbolic link to a pipe, which has no name."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as reader:
        write_whole(Path(f"/dev/fd/{writing}"), "whole")
        os.close(writing)
        assert reader.read() == "whole"


def test_failed_write_keeps_the_previous_text(tmp_path: Path) -> None:
    write_whole(path := tmp_path / "a.txt", "né\n")
    assert path.read_bytes() == "né\n".encode()
    with full_disk(3), pytest.raises(OSError, match="File too large"):
        write_whole(path, "longer than that")
    assert path.read_bytes() == "né\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_concurrent_writes_by_two_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_remedy_suggests_making_room_only_on_a_full_disk(number: int, expected: str) -> None:
    assert remedy(OSError(number, "it says why"), "name another file") == expected


def test_parent_that_is_a_file_raises_not_a_directory_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file")
    with pytest.raises(NotADirectoryError), whole_file(tmp_path / "a" / "b") as unfinished:
        unfinished.write_text("new")
