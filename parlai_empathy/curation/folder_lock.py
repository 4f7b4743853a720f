"""A lock that allows one run at a time in a folder: two would write and delete the same files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.files.turns import lock

FILE = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create a folder if necessary, and lock it against other runs. The system releases the lock of a killed run.

    Where the system or the file system does not support such locks, the folder is not locked.

    :raises DataError: if another run has the lock, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / FILE).open("wb")  # never deleted, or two runs could lock two files of this name
    except OSError as error:
        raise DataError(f"{folder} cannot be created ({error.strerror}): name another folder with --out") from error
    with file:
        if not lock(file, wait=False):
            raise DataError(f"another run writes to {folder}: wait for it to end, or name another folder with --out")
        yield
