"""Write files atomically: a file is complete, or it is not there."""

from __future__ import annotations

import errno
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parlai_empathy.files.unfinished import own_file


@contextmanager
def whole_file(path: Path, is_shared: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` to write to; at the end rename it to ``path``, or delete it on an error.

    A file that is replaced keeps its permissions; nobody else can read its new content while it is written either.

    :param is_shared: whether several processes may write ``path`` at once. If so, each has its own temporary path, and
        leftovers of killed processes are deleted; otherwise the next write overwrites a leftover.
    :raises OSError: if the file cannot be renamed.
    """
    if path.exists() and not path.is_file():
        yield path  # a pipe or a device is written directly; the target of /dev/stdout may have no path of its own
        return
    path = path.resolve()  # keep a symbolic link, and write its target
    unfinished = own_file(path) if is_shared else path.parent / f"{path.name}.unfinished"
    try:
        with suppress(OSError):  # there is no file yet
            unfinished.touch(mode=path.stat().st_mode & 0o777 | stat.S_IWUSR)
        yield unfinished
        with suppress(OSError):  # there is none yet, or the file system has no permissions
            shutil.copymode(path, unfinished)
        unfinished.replace(path)
    finally:
        with suppress(OSError):  # do not hide the original error
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8, atomically; several processes may do so at once.

    :raises OSError: if it cannot be written.
    """
    with whole_file(path, is_shared=True) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def remedy(error: OSError, otherwise: str) -> str:
    """Return the advice for a file that cannot be written: ``otherwise``, preceded by "make room" on a full disk."""
    return f"make room, or {otherwise}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else otherwise
