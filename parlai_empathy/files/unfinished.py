"""Unfinished files and folders, named after the process that writes them, so that leftovers can be deleted."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ENDING = ".unfinished"
_DAY = 24 * 60 * 60  # seconds
_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]  # some host names are too long for a file name


def own_file(path: Path) -> Path:
    """Return the path to which this process writes the future ``path``. Leftovers of killed processes are deleted."""
    _remove_left(path.parent, path.name)
    return path.parent / f"{path.name}.{_writer()}{_ENDING}"


@contextmanager
def own_folder(parent: Path, name: str) -> Iterator[Path]:
    """Create a temporary folder for this process alone. Leftovers of killed processes are deleted.

    :param name: the beginning of the folder's name.
    :raises OSError: if it cannot be created.
    """
    _remove_left(parent, name)
    with tempfile.TemporaryDirectory(prefix=f"{name}.{_writer()}.", suffix=_ENDING, dir=parent) as folder:
        yield Path(folder)


def _writer() -> str:
    return f"{_HOST}-{os.getpid()}"


def _remove_left(folder: Path, name: str) -> None:
    pattern = re.compile(rf"{re.escape(name)}\.(?P<host>[0-9a-f]{{8}})-(?P<process>\d+)(\.\w+)?{re.escape(_ENDING)}")
    for path in folder.glob(f"*{_ENDING}"):
        found = pattern.fullmatch(path.name)
        with suppress(OSError):  # another process is deleting it, or this user may not
            if found and _is_left(path, found["host"], int(found["process"])):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_left(path: Path, host: str, process: int) -> bool:
    """Whether its writer has ended; for a writer on another host, whether it has not changed for a day."""
    if host == _HOST:
        return not _runs(process)
    changes = [one.stat().st_mtime for one in (path, *path.rglob("*"))]
    return time.time() - max(changes) > _DAY


def _runs(process: int) -> bool:
    if os.name == "nt":
        return True  # on Windows, os.kill would end the process
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's process
    return True
