"""Files that are whole, or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path, is_shared: bool = False) -> Iterator[Path]:
    """Give a path beside ``path`` to write to: what stands there in the end is moved to ``path``, or goes on an error.

    :param is_shared: whether several processes may write ``path`` at once. Then each has a path of its own; else what
        a killed one left is written over by the next.
    :raises OSError: if the file cannot be moved.
    """
    own = f".{os.getpid()}" if is_shared else ""
    unfinished = path.parent / f"{path.name}{own}.unfinished"
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        with suppress(OSError):  # the error that led here says more
            unfinished.unlink(missing_ok=True)
