"""Several processes that write the same files, one after another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
            _lock(descriptor)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(descriptor: int) -> None:
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
