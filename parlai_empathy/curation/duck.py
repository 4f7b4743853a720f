"""DuckDB, as it is used here: in this process, with as much memory as is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.errors import MissingDependencyError, OptionError


def connect(memory: str, threads: int, folder: Path | None = None) -> Any:
    """A connection to a database in memory.

    :param memory: how much it may take, such as ``4GB``.
    :param folder: where it puts what is more.
    :raises MissingDependencyError: without DuckDB.
    :raises OptionError: if ``memory`` is no amount of memory.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingDependencyError(
            f'curation needs DuckDB, which cannot be imported ({error}): pip install "parlai-empathy[red]"'
        ) from error
    try:
        config: dict[str, Any] = {"memory_limit": memory, "threads": threads, "preserve_insertion_order": False}
        return duckdb.connect(config={**config, **({"temp_directory": str(folder)} if folder else {})})
    except duckdb.Error as error:
        raise OptionError(f"--memory {memory}: {str(error).splitlines()[0]}: write it as 4GB") from error
