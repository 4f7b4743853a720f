"""Locks for processes that would write the same files: they take turns, or only one runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def own_turn(folder: Path) -> Iterator[None]:
    """Wait for the exclusive lock of an existing folder, and hold it within the ``with`` block.

    The system releases the lock of a killed process. Where folders cannot be locked, processes do not wait.
    """
    descriptor = None
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        if descriptor is not None:
            lock(descriptor, wait=True)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def lock(file: int | IO[bytes], wait: bool) -> bool:
    """Lock an open file or folder until it is closed. Return False if another process holds the lock.

    Return True where the system or the file system does not support such locks.

    :param wait: wait until the lock is free.
    """
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True
