"""Read the Parquet file that ``parlai curate_red`` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DataError, MissingDependencyError
from parlai_empathy.tasks.red.records import COLUMNS, TEXTS, RedPost, check_columns, post_of


def read_parquet(path: str | Path) -> Iterator[RedPost]:
    """Read the posts, in file order.

    :raises MissingDependencyError: if pyarrow is not installed.
    :raises DataError: naming the file, and row or column, if it is not a Parquet file, is broken or lacks a column, or
        if a column has the wrong type or an invalid value.
    """
    path = Path(path)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError(
            f'{path} can only be read with pyarrow: pip install "parlai-empathy[red]"'
        ) from error
    row = 0
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            _check_types(path, file.schema_arrow)
            for batch in file.iter_batches(columns=list(COLUMNS)):
                for fields in batch.to_pylist():
                    row += 1
                    yield post_of(fields, f"{path}, row {row}")
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise DataError(f"{path}, after row {row}: it cannot be read as Parquet ({reason}): make it again") from error


def _check_types(path: Path, schema: Any) -> None:
    from pyarrow import types

    check_columns(list(schema.names), str(path))
    for name in COLUMNS:
        if schema.names.count(name) > 1:
            raise DataError(f"{path}: {name} is the name of two columns: make the file again")
        kind = schema.field(name).type
        inner = kind.value_type if types.is_dictionary(kind) else kind
        if name in TEXTS:
            fits = str(inner) in ("string", "large_string", "string_view")
        else:
            fits = types.is_floating(inner) or types.is_integer(inner) or types.is_null(inner)
        if not fits:
            wanted = "texts" if name in TEXTS else "numbers"
            raise DataError(f"{path}, column {name}: it is of type {kind}, not of {wanted}: make the file again")
