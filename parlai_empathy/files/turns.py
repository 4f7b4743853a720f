"""Several processes that would write the same files: one after another, or one alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def own_turn(folder: Path) -> Iterator[None]:
    """Wait until nobody else has a turn in a folder that is there, then keep others waiting.

    Of a killed process the system ends the turn. Where it, or the disk, knows no locks of folders, nobody waits.
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
    """Lock an open file or folder until it is closed; whether nobody else has it locked.

    Where the system or the disk knows no such locks, nobody has.

    :param wait: until whoever has it locked lets it go.
    """
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True
