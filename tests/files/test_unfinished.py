"""Unfinished files of killed processes are deleted; those of running ones stay."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parlai_empathy.files.unfinished import own_file, own_folder
from parlai_empathy.files.whole_file import whole_file

DAY = 24 * 60 * 60

WRITER = """
import sys
from pathlib import Path
from parlai_empathy.files.unfinished import own_folder
from parlai_empathy.files.whole_file import whole_file
folder = Path(sys.argv[1])
with whole_file(folder / "pool", is_shared=True) as file, own_folder(folder, "build") as build:
    for path in (file, build / "data"):
        path.write_text("half")
    print("half", flush=True)
    sys.stdin.read()
"""


def write(folder: Path) -> None:
    """Write the same file and folder as another process."""
    with whole_file(folder / "pool", is_shared=True) as file, own_folder(folder, "build") as build:
        for path in (file, build / "data"):
            path.write_text("whole")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_of_another_process_are_kept_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "half\n"
        half = names(tmp_path)
        assert len(half) == 2
        write(tmp_path)
        assert names(tmp_path) == sorted([*half, "pool"])
        writer.kill()
    write(tmp_path)
    assert names(tmp_path) == ["pool"]
    assert (tmp_path / "pool").read_text() == "whole"


def test_files_of_the_current_process_are_kept(tmp_path: Path) -> None:
    with own_folder(tmp_path, "build") as first, own_folder(tmp_path, "build") as second:
        write(tmp_path)
        assert names(tmp_path) == sorted([first.name, second.name, "pool"])
    assert names(tmp_path) == ["pool"]


def of_another_host(path: Path) -> Path:
    """Return the path with another host's identifier in its name."""
    return path.with_name(re.sub(r"\.[0-9a-f]{8}-", ".00c0ffee-", path.name))


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_files_of_another_host_are_kept_for_a_day_after_last_change(tmp_path: Path) -> None:
    with own_folder(tmp_path, "build") as own:
        shutil.copytree(own, folder := of_another_host(own))
    (file := of_another_host(own_file(tmp_path / "pool"))).write_text("half")
    (inside := folder / "data").write_text("half")
    for path, seconds in ((file, DAY - 60), (inside, DAY - 60), (folder, 2 * DAY)):
        age(path, seconds)
    write(tmp_path)
    assert names(tmp_path) == sorted(["pool", file.name, folder.name])
    age(file, DAY + 60)
    write(tmp_path)
    assert names(tmp_path) == sorted(["pool", folder.name])
    age(inside, DAY + 60)
    write(tmp_path)
    assert names(tmp_path) == ["pool"]


def test_unrelated_old_files_are_kept(tmp_path: Path) -> None:
    others = [
        "pool.1",
        "pool.unfinished",
        "pool.run-12.bak",
        "build.unfinished-1",
        "pool.model-12.unfinished",
        "pools.00c0ffee-9.unfinished",
    ]
    for name in others:
        (tmp_path / name).touch()
        age(tmp_path / name, 9 * DAY)
    write(tmp_path)
    assert names(tmp_path) == sorted([*others, "pool"])


def test_missing_folder_raises_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), own_folder(tmp_path / "none", "build"):
        pass
    with pytest.raises(FileNotFoundError):
        own_file(tmp_path / "none" / "pool").touch()
