"""A report: tables and plots with a title, printed, or saved as a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.reports.plots import Plot, draw

Cell = str | int | float | tuple[float, float] | None

_LONGEST_NAME = 60  # letters of a file's name, its ending apart: 255 bytes are the most that file systems take


class PValue(float):
    """A p-value, which tables show as papers print it."""


@dataclass(frozen=True)
class Table:
    """Rows of numbers.

    :param header: the columns' names.
    :param rows: as many cells each; a float is shown with three digits behind its point, a pair as an interval, None
        as nothing.
    :param notes: what one has to know to read it, such as the numbers' signatures.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """The table in Markdown, with its columns aligned."""
        lines = [[_shown(cell) for cell in line] for line in (self.header, *self.rows)]
        widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(self.header))]
        shown = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        rule = "|".join("-" * (width + 2) for width in widths)
        table = [f"| {shown[0]} |", f"|{rule}|", *(f"| {line} |" for line in shown[1:])]
        notes = ["", *map(_one_line, self.notes)] if self.notes else []
        return "\n".join([f"## {_one_line(self.title)}", "", *table, *notes])


@dataclass(frozen=True)
class Report:
    """Tables, and plots of what is in them.

    :param items: one record an item, such as each judge's score of it: kept for those who compute with them.
    """

    title: str
    tables: Sequence[Table]
    plots: Sequence[Plot] = ()
    items: Sequence[dict[str, Any]] = ()

    def text(self) -> str:
        """All tables in Markdown."""
        return "\n\n".join([f"# {_one_line(self.title)}", *(table.text() for table in self.tables)]) + "\n"

    def show(self, folder: str | Path | None = None) -> None:
        """Print the tables, and save everything if a folder is named: see :meth:`save`."""
        try:
            print(self.text())
        finally:  # whoever reads what is printed may have had enough
            if folder:
                self.save(folder)
        if folder:
            logging.info(f"saved in {folder}")

    def save(self, folder: str | Path) -> None:
        """Write ``report.md``, ``report.json``, ``items.jsonl`` and the plots as PNG files.

        Without matplotlib the plots are left out, with a warning.

        :raises OptionError: if the folder cannot be written to.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "report.md").write_text(self._page(self._draw(folder)), encoding="utf-8")
            (folder / "report.json").write_text(json.dumps(self._record(), indent=1), encoding="utf-8")
            if self.items:
                lines = "".join(json.dumps(item) + "\n" for item in self.items)
                (folder / "items.jsonl").write_text(lines, encoding="utf-8")
        except OSError as error:
            raise OptionError(f"--out {folder} cannot be written to ({error.strerror}): name another folder") from error

    def _draw(self, folder: Path) -> dict[str, Plot]:
        """Draw the plots; the files of those that could be."""
        drawn = dict(zip(_files([plot.name for plot in self.plots]), self.plots, strict=True))
        try:
            for file, plot in drawn.items():
                draw(plot, folder / file)
        except MissingDependencyError as error:
            logging.warning(str(error))
            return {}
        return drawn

    def _page(self, drawn: dict[str, Plot]) -> str:
        return self.text() + "".join(f"\n![{_in_brackets(plot.title)}]({file})\n" for file, plot in drawn.items())

    def _record(self) -> dict[str, Any]:
        tables = [
            {"title": table.title, "header": list(table.header), "rows": [list(row) for row in table.rows]}
            | {"notes": list(table.notes)}
            for table in self.tables
        ]
        return {"title": self.title, "tables": tables}


def _files(names: Sequence[str]) -> Iterator[str]:
    """A file's name for each plot's, all different, also where a disk does not tell ``A`` from ``a``."""
    taken = set()
    for name in names:
        plain = re.sub(r"\W+", "_", name.lower())[:_LONGEST_NAME].strip("_") or "plot"
        file = next(file for n in count(1) if (file := plain if n == 1 else f"{plain}_{n}") not in taken)
        taken.add(file)
        yield f"{file}.png"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _in_brackets(text: str) -> str:
    return re.sub(r"([][])", r"\\\1", _one_line(text))


def _shown(cell: Cell) -> str:
    """A cell's text, which no ``|`` and no new line in it may end."""
    if cell is None:
        return ""
    if isinstance(cell, tuple):
        return f"{cell[0]:.3f} to {cell[1]:.3f}"
    if isinstance(cell, PValue):
        return p_value(cell)
    return f"{cell:.3f}" if isinstance(cell, float) else _one_line(str(cell)).replace("|", "&#124;")


def p_value(value: float) -> str:
    """A p-value as papers print it."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
