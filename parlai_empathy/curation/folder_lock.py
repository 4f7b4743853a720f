"""One run at a time in a folder: two would write, and clear away, the same files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.files.turns import lock

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
        if not lock(file, wait=False):
            raise DataError(f"another run writes to {folder}: wait for its end, or name another folder with --out")
        yield
