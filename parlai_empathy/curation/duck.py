"""In-process DuckDB with a memory limit."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from parlai_empathy.errors import DataError, MissingDependencyError, OptionError


def connect(memory: str, threads: int, folder: Path | None = None) -> Any:
    """Connect to a new in-memory database.

    :param memory: its memory limit, such as ``4GB``.
    :param folder: where it stores data that exceed the limit.
    :raises MissingDependencyError: if DuckDB is not installed.
    :raises OptionError: if ``memory`` is not a valid limit.
    """
    duckdb = _library()
    if memory.strip().startswith("-"):  # DuckDB would take it for its default limit
        raise OptionError(f"--memory {memory}: below 0: write it like 4GB")
    try:
        config: dict[str, Any] = {"memory_limit": memory, "threads": threads, "preserve_insertion_order": False}
        return duckdb.connect(config={**config, **({"temp_directory": str(folder)} if folder else {})})
    except duckdb.Error as error:
        raise OptionError(f"--memory {memory}: {_reason(error)}: write it like 4GB") from error


@contextmanager
def clear_errors(memory: str, folder: Path) -> Iterator[None]:
    """Turn the errors of DuckDB and of the system about full memory or a full disk into one-line errors.

    :param memory: DuckDB's memory limit.
    :param folder: the output folder.
    :raises MissingDependencyError: if DuckDB is not installed.
    :raises OptionError: if the memory limit is too low.
    :raises DataError: if the folder cannot be written to.
    """
    duckdb = _library()
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise OptionError(
            f"--memory {memory}: too little for DuckDB ({_reason(error)}): allow more, or use fewer --threads"
        ) from error
    except (OSError, duckdb.IOException) as error:
        place = getattr(error, "filename", None) or folder
        raise DataError(
            f"{place} cannot be written ({_reason(error)}): make room, or name another folder, and run again"
        ) from error


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` on Ctrl-C: DuckDB raises various other errors when a query is interrupted."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield  # the caller handles signals
        return
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        handler(number, frame)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    except Exception as error:
        if stopped.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


def _library() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            f'curation needs DuckDB, which cannot be imported ({error}): pip install "parlai-empathy[red]"'
        ) from error
    return duckdb


def _reason(error: Exception) -> str:
    if number := re.search(r'"errno": ?"(\d+)"', str(error)):  # DuckDB puts the system's error into JSON
        return os.strerror(int(number[1]))
    return getattr(error, "strerror", None) or str(error).splitlines()[0]
