"""A report: tables and plots with a title, printed, or saved as a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.files.turns import own_turn
from parlai_empathy.files.whole_file import remedy, write_whole
from parlai_empathy.reports.cells import Cell, one_line, shown
from parlai_empathy.reports.csv_tables import save_tables
from parlai_empathy.reports.file_names import file_names
from parlai_empathy.reports.former_report import remove_former
from parlai_empathy.reports.page import page
from parlai_empathy.reports.plots import Plot, draw, drawing


@dataclass(frozen=True)
class Table:
    """Rows of numbers.

    :param header: the columns' names.
    :param rows: as many cells each; a pair is shown as an interval, None as nothing.
    :param notes: what one has to know to read it, such as the numbers' signatures.
    :param digits: how many are shown behind a float's point.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    digits: int = 3

    def text(self) -> str:
        """The table in Markdown, with its columns aligned."""
        lines = [[_in_markdown(shown(cell, self.digits)) for cell in line] for line in (self.header, *self.rows)]
        widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(self.header))]
        aligned = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        rule = "|".join("-" * (width + 2) for width in widths)
        table = [f"| {aligned[0]} |", f"|{rule}|", *(f"| {line} |" for line in aligned[1:])]
        notes = ["", *map(one_line, self.notes)] if self.notes else []
        return "\n".join([f"## {one_line(self.title)}", "", *table, *notes])

    def record(self) -> dict[str, Any]:
        """The table for JSON: numbers in full, and their signatures where they have some."""
        signatures = [[getattr(cell, "signature", None) for cell in row] for row in self.rows]
        return {
            "title": self.title,
            "header": list(self.header),
            "rows": [list(row) for row in self.rows],
            **({"signatures": signatures} if any(map(any, signatures)) else {}),
            "notes": list(self.notes),
        }


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
        return "\n\n".join([f"# {one_line(self.title)}", *(table.text() for table in self.tables)]) + "\n"

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
        """Write ``report.md``, ``report.json``, ``report.html``, ``items.jsonl``, the plots as PNG files, and
        the tables as CSV files below ``tables``, each whole or not at all. What a former report wrote there goes; of
        two commands that save at once, the second waits.

        The page holds everything that it shows, plots too, and can be sent about as it is. Without matplotlib the
        plots are left out, with a warning.

        :raises OptionError: if the folder cannot be written to.
        """
        folder = Path(folder).expanduser()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with own_turn(folder):
                remove_former(folder)
                self._write(folder)
        except OSError as error:
            advice = remedy(error, "name another folder")
            raise OptionError(f"--out {folder} cannot be written to ({error.strerror}): {advice}") from error

    def _write(self, folder: Path) -> None:
        plots = self._draw(folder)
        write_whole(folder / "report.md", self._markdown(plots))
        write_whole(folder / "report.html", self._page(bool(plots)))
        files = [*plots, *(f"tables/{path.name}" for path in save_tables(self.tables, folder / "tables"))]
        if self.items:
            write_whole(folder / "items.jsonl", "".join(json.dumps(item) + "\n" for item in self.items))
            files.append("items.jsonl")
        record = {"title": self.title, "tables": [table.record() for table in self.tables], "files": files}
        write_whole(folder / "report.json", json.dumps(record, indent=1))

    def _draw(self, folder: Path) -> dict[str, Plot]:
        """Draw the plots; the files of those that could be."""
        drawn = dict(zip(file_names([plot.name for plot in self.plots], ".png", "plot"), self.plots, strict=True))
        try:
            for file, plot in drawn.items():
                draw(plot, folder / file)
        except MissingDependencyError as error:
            logging.warning(str(error))
            return {}
        return drawn

    def _markdown(self, drawn: dict[str, Plot]) -> str:
        return self.text() + "".join(f"\n![{_in_brackets(plot.title)}]({file})\n" for file, plot in drawn.items())

    def _page(self, with_plots: bool) -> str:
        images = [(plot.title, drawing(plot, "svg")) for plot in self.plots] if with_plots else []
        return page(self.title, self.tables, images)


def _in_brackets(text: str) -> str:
    return re.sub(r"([][])", r"\\\1", one_line(text))


def _in_markdown(text: str) -> str:
    """A cell's text, which no ``|`` in it may end."""
    return text.replace("|", "&#124;")
