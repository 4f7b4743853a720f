"""Saves a report's tables as CSV files with unrounded numbers, for spreadsheets and programs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from parlai_empathy.files.whole_file import whole_file
from parlai_empathy.reports.cells import Cell, one_line
from parlai_empathy.reports.file_names import file_names
from parlai_empathy.reports.table import Table


def save_tables(tables: Sequence[Table], folder: Path) -> list[Path]:
    """Write each table to a file named after its title, and return the paths.

    A column of intervals becomes two columns, for the lower and the upper ends.

    :raises OSError: if the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in file_names([table.title for table in tables], ".csv", "table")]
    for table, path in zip(tables, paths, strict=True):
        with whole_file(path, is_shared=True) as own, own.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(_lines(table))
    return paths


def _lines(table: Table) -> list[list[Cell]]:
    pairs = {at for row in table.rows for at, cell in enumerate(row) if isinstance(cell, tuple)}
    header: list[Cell] = []
    for at, name in enumerate(map(one_line, table.header)):
        header += [f"{name}: low", f"{name}: high"] if at in pairs else [name]
    rows = [[part for at, cell in enumerate(row) for part in _parts(cell, at in pairs)] for row in table.rows]
    return [header, *rows]


def _parts(cell: Cell, is_pair: bool) -> list[Cell]:
    if isinstance(cell, tuple):
        return list(cell)
    plain = one_line(cell) if isinstance(cell, str) else float(cell) if isinstance(cell, float) else cell
    return [plain, plain] if is_pair else [plain]
