"""What is not finished yet says in its name who writes it, so that what killed processes left can be told, and goes."""

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
_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]  # the names of some would be too long in a file's


def own_file(path: Path) -> Path:
    """Where this process may write what shall become ``path``. What others left of it when they were killed goes."""
    _remove_left(path.parent, path.name)
    return path.parent / f"{path.name}.{_writer()}{_ENDING}"


@contextmanager
def own_folder(parent: Path, name: str) -> Iterator[Path]:
    """A temporary folder, in which nobody else writes. What others left of theirs when they were killed goes.

    :param name: with which its name begins.
    :raises OSError: if it cannot be made.
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
        with suppress(OSError):  # somebody else removes it at this moment, or this user may not
            if found and _is_left(path, found["host"], int(found["process"])):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_left(path: Path, host: str, process: int) -> bool:
    """Whether nobody writes it any more; of what another host writes, if a day has passed without a change."""
    if host == _HOST:
        return not _runs(process)
    changes = [one.stat().st_mtime for one in (path, *path.rglob("*"))]
    return time.time() - max(changes) > _DAY


def _runs(process: int) -> bool:
    if os.name == "nt":
        return True  # to ask would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True
