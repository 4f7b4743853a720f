"""DuckDB, as it is used here: in this process, with as much memory as is allowed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from parlai_empathy.errors import DataError, MissingDependencyError, OptionError


def connect(memory: str, threads: int, folder: Path | None = None) -> Any:
    """A connection to a database in memory.

    :param memory: how much it may take, such as ``4GB``.
    :param folder: where it puts what is more.
    :raises MissingDependencyError: without DuckDB.
    :raises OptionError: if ``memory`` is no amount of memory.
    """
    duckdb = _library()
    try:
        config: dict[str, Any] = {"memory_limit": memory, "threads": threads, "preserve_insertion_order": False}
        return duckdb.connect(config={**config, **({"temp_directory": str(folder)} if folder else {})})
    except duckdb.Error as error:
        raise OptionError(f"--memory {memory}: {_reason(error)}: write it as 4GB") from error


@contextmanager
def clear_errors(memory: str, folder: Path) -> Iterator[None]:
    """Say in one line what DuckDB, or the system, says when memory or the disk is full.

    :param memory: how much DuckDB may take.
    :param folder: what is written to.
    :raises MissingDependencyError: without DuckDB.
    :raises OptionError: if that memory is too little.
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
    """Let Ctrl-C be a ``KeyboardInterrupt``: of one that comes while it computes, DuckDB makes errors of many kinds."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield  # whoever runs this has seen to signals
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
    return getattr(error, "strerror", None) or str(error).splitlines()[0]
