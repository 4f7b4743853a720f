"""A report: tables and plots with a title, printed, or saved as a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.reports.plots import Plot, draw

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows of numbers.

    :param header: the columns' names.
    :param rows: as many cells each; a float is shown with three digits behind its point, None as nothing.
    :param notes: what one has to know to read it, such as the numbers' signatures.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """The table in Markdown, with its columns aligned."""
        lines = [[str(name) for name in self.header], *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(self.header))]
        shown = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        rule = "|".join("-" * (width + 2) for width in widths)
        table = [f"| {shown[0]} |", f"|{rule}|", *(f"| {line} |" for line in shown[1:])]
        return "\n".join([f"## {self.title}", "", *table, *(("", *self.notes) if self.notes else ())])


@dataclass(frozen=True)
class Report:
    """Tables, and plots of what is in them.

    :param items: one record an item, such as each judge's score of it: kept for those who compute with them.
    """

    title: str
    tables: Sequence[Table]
    plots: Sequence[Plot] = ()
    items: Sequence[dict[str, Any]] = field(default=())

    def text(self) -> str:
        """All tables in Markdown."""
        return "\n\n".join([f"# {self.title}", *(table.text() for table in self.tables)]) + "\n"

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

    def _draw(self, folder: Path) -> list[Plot]:
        """Draw the plots; those that could be."""
        try:
            for plot in self.plots:
                draw(plot, folder / f"{plot.name}.png")
        except MissingDependencyError as error:
            logging.warning(str(error))
            return []
        return list(self.plots)

    def _page(self, drawn: Sequence[Plot]) -> str:
        return self.text() + "".join(f"\n![{plot.title}]({plot.name}.png)\n" for plot in drawn)

    def _record(self) -> dict[str, Any]:
        tables = [
            {"title": table.title, "header": list(table.header), "rows": [list(row) for row in table.rows]}
            | {"notes": list(table.notes)}
            for table in self.tables
        ]
        return {"title": self.title, "tables": tables}


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def p_value(value: float) -> str:
    """A p-value as papers print it."""
    return "< .001" if value < 0.001 else f"{value:.3f}"
