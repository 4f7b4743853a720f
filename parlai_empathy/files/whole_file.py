"""Files that are whole, or not there."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parlai_empathy.files.unfinished import own_file


@contextmanager
def whole_file(path: Path, is_shared: bool = False) -> Iterator[Path]:
    """Give a path beside ``path`` to write to: what stands there in the end is moved to ``path``, or goes on an error.

    :param is_shared: whether several processes may write ``path`` at once. Then each has a path of its own, and what
        killed ones left goes; else what a killed one left is written over by the next.
    :raises OSError: if the file cannot be moved.
    """
    path = path.resolve()  # a link stays, and the file is written where it leads
    if path.exists() and not path.is_file():
        yield path  # a pipe or a device, which has nothing to lose
        return
    unfinished = own_file(path) if is_shared else path.parent / f"{path.name}.unfinished"
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        with suppress(OSError):  # the error that led here says more
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text, in UTF-8, at once or not at all; several processes may do so.

    :raises OSError: if it cannot be written.
    """
    with whole_file(path, is_shared=True) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def remedy(error: OSError, otherwise: str) -> str:
    """What to do about a file that cannot be written: ``otherwise``, and on a full disk something else, too."""
    return f"make room, or {otherwise}" if error.errno in (errno.ENOSPC, errno.EDQUOT) else otherwise
