"""A report's tables as CSV files, one each, with all digits: for spreadsheets and for programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.cells import Cell, one_line
from parlai_empathy.reports.file_names import file_names
from parlai_empathy.reports.report import Table


def save_tables(tables: Sequence[Table], folder: str | Path) -> list[Path]:
    """Write each table to a file that is called after its title, and say which files these are.

    A column of intervals becomes two, of their lower and their upper ends.

    :raises OptionError: if the folder cannot be written to.
    """
    folder = Path(folder)
    paths = _paths(folder, [table.title for table in tables])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table, path in zip(tables, paths, strict=True):
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(_lines(table))
    except OSError as error:
        raise OptionError(f"--out {folder} cannot be written to ({error.strerror}): name another folder") from error
    return paths


def remove_tables(report: str | Path, folder: str | Path) -> None:
    """Remove the files that :func:`save_tables` wrote for a report: the next one may not have all of its tables.

    :param report: its ``report.json``; nothing happens if there is none.
    :raises OptionError: if a file cannot be removed.
    """
    try:
        titles = [str(table["title"]) for table in json.loads(Path(report).read_text(encoding="utf-8"))["tables"]]
    except (OSError, ValueError, LookupError, TypeError):
        return  # no report of ours
    try:
        for path in _paths(Path(folder), titles):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"--out {folder} cannot be written to ({error.strerror}): name another folder") from error


def _paths(folder: Path, titles: Sequence[str]) -> list[Path]:
    return [folder / name for name in file_names(titles, ".csv", "table")]


def _lines(table: Table) -> list[list[Cell]]:
    pairs = {at for row in table.rows for at, cell in enumerate(row) if isinstance(cell, tuple)}
    header: list[Cell] = []
    for at, name in enumerate(table.header):
        header += [f"{name}: low", f"{name}: high"] if at in pairs else [name]
    rows = [[part for at, cell in enumerate(row) for part in _parts(cell, at in pairs)] for row in table.rows]
    return [header, *rows]


def _parts(cell: Cell, is_pair: bool) -> list[Cell]:
    if isinstance(cell, tuple):
        return list(cell)
    plain = one_line(cell) if isinstance(cell, str) else float(cell) if isinstance(cell, float) else cell
    return [plain, plain] if is_pair else [plain]
