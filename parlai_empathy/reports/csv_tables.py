"""A report's tables as CSV files, one each, with all digits: for spreadsheets and for programs."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.cells import Cell, one_line
from parlai_empathy.reports.report import Table

_LONGEST_NAME = 60  # letters of a file's name, its ending apart


def save_tables(tables: Sequence[Table], folder: str | Path) -> list[Path]:
    """Write each table to a file that is called after its title, and say which files these are.

    A column of intervals becomes two, of their lower and their upper ends.

    :raises OptionError: if the folder cannot be written to.
    """
    folder = Path(folder)
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in tables:
            path = _free(folder, table.title, paths)
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(_lines(table))
            paths.append(path)
    except OSError as error:
        raise OptionError(f"--out {folder} cannot be written to ({error.strerror}): name another folder") from error
    return paths


def _free(folder: Path, title: str, taken: Sequence[Path]) -> Path:
    """A file that no other table has, also where a disk does not tell ``A`` from ``a``."""
    plain = re.sub(r"[\W_]+", "_", title.lower())[:_LONGEST_NAME].strip("_") or "table"
    path, number = folder / f"{plain}.csv", 1
    while path in taken:
        number += 1
        path = folder / f"{plain}_{number}.csv"
    return path


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
