"""Read RED in any of its formats: our own Parquet file, the authors' tables, or a folder of either."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.tables import KINDS
from parlai_empathy.tasks.red.parquet import read_parquet
from parlai_empathy.tasks.red.records import RedPost
from parlai_empathy.tasks.red.released import fold_in_name, read_tables

PARQUET = "red.parquet"


def read_red(path: str | Path) -> list[RedPost]:
    """Return all posts, of all folds and sources.

    :param path: a ``.parquet``, ``.csv``, ``.tsv`` or ``.jsonl`` file; or a folder that contains ``red.parquet``, or
        tables with their fold in the name (``train.csv``).
    :raises DataError: naming the file, if there is nothing to read, or as
        :func:`~parlai_empathy.tasks.red.parquet.read_parquet` and
        :func:`~parlai_empathy.tasks.red.released.read_tables` do.
    """
    path = Path(path)
    try:
        posts = _read(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): name another with --red-file") from error
    if not posts:
        raise DataError(f"{path}: it holds no post: make it again, or name another with --red-file")
    return posts


def _read(path: Path) -> list[RedPost]:
    if path.is_dir():
        return read_red(path / PARQUET) if (path / PARQUET).is_file() else _read_folder(path)
    if path.suffix.lower() == ".parquet":
        return list(read_parquet(path))
    if path.suffix.lower() in KINDS:
        return list(read_tables(path))
    raise DataError(f"{path}: RED must be a .parquet, {', '.join(KINDS)} file, or a folder: check --red-file")


def _read_folder(folder: Path) -> list[RedPost]:
    tables = sorted(file for file in folder.iterdir() if file.suffix.lower() in KINDS and fold_in_name(file))
    if not tables:
        raise DataError(f"{folder}: it holds neither {PARQUET} nor tables such as train.csv: check --red-file")
    _check_folds(folder, tables)
    return [post for table in tables for post in read_tables(table, fold_in_name(table))]


def _check_folds(folder: Path, tables: Sequence[Path]) -> None:
    """Raise :class:`DataError` if two tables are of the same fold: perhaps of different splits of the same posts."""
    folds: dict[str | None, Path] = {}
    for table in tables:
        if (other := folds.setdefault(fold_in_name(table), table)) is not table:
            raise DataError(
                f"{folder}: {other.name} and {table.name} are both of the fold {fold_in_name(table)}: put the tables "
                "of one split into a folder of their own, or join those that belong together"
            )
