"""One run at a time in a folder: two would write, and clear away, the same files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from parlai_empathy.errors import DataError

FILE = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder, which is made if need be. Of a killed run the system takes the lock away.

    Where the system or the disk knows no such locks, nobody is kept out.

    :raises DataError: if another run is in the folder, or it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / FILE).open("wb")  # it stays: who deleted it could lock one file while another is locked
    except OSError as error:
        raise DataError(f"{folder} cannot be made ({error.strerror}): name another folder with --out") from error
    with file:
        if not _lock(file):
            raise DataError(f"another run writes to {folder}: wait for its end, or name another folder with --out")
        yield


def _lock(file: IO[bytes]) -> bool:
    """Whether nobody else has the file locked."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True
