"""A report: tables and plots with a title, which can be printed or saved to a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import MissingDependencyError, OptionError
from parlai_empathy.files.closed_pipe import pipe_may_close
from parlai_empathy.files.turns import own_turn
from parlai_empathy.files.unfinished import own_folder
from parlai_empathy.files.user_path import user_path
from parlai_empathy.files.whole_file import remedy, write_whole
from parlai_empathy.reports.csv_tables import save_tables
from parlai_empathy.reports.file_names import file_names
from parlai_empathy.reports.page import page
from parlai_empathy.reports.plots import Plot, draw, drawing
from parlai_empathy.reports.previous_report import remove_previous
from parlai_empathy.reports.table import Table, markdown_line


@dataclass(frozen=True)
class Report:
    """Tables and plots.

    :param items: one record per item, such as its scores by all judges, saved for further analysis.
    """

    title: str
    tables: Sequence[Table]
    plots: Sequence[Plot] = ()
    items: Sequence[dict[str, Any]] = ()

    def text(self) -> str:
        """Return all tables in Markdown."""
        return "\n\n".join([f"# {markdown_line(self.title)}", *(table.text() for table in self.tables)]) + "\n"

    def show(self, folder: str | Path | None = None) -> None:
        """Print the tables, and save everything if a folder is given: see :meth:`save`."""
        try:
            with pipe_may_close():
                print(self.text())
        finally:  # also if it cannot be printed
            if folder:
                self.save(folder)
        if folder:
            logging.info(f"saved in {folder}")

    def save(self, folder: str | Path) -> None:
        """Save the report to a folder.

        Writes ``report.md``, ``report.json``, ``report.html``, ``items.jsonl``, the plots as PNG files, and the tables
        as CSV files below ``tables``. All are written before a former report is replaced; its files are removed. A
        folder with a ``report.json`` has a whole report, even if the process was killed. If two commands save at once,
        the second waits.

        The HTML page is self-contained, plots included. Without matplotlib the plots are left out, with a warning.

        :raises OptionError: if the folder cannot be written to.
        """
        folder = user_path(folder)
        with _made(folder), own_turn(folder), own_folder(folder, "report") as unfinished:
            files = self._write(unfinished)
            remove_previous(folder)
            _move(files, unfinished, folder)

    def _write(self, folder: Path) -> list[str]:
        """Write all files, and return their paths in the folder."""
        plots = self._draw(folder)
        write_whole(folder / "report.md", self._markdown(plots))
        write_whole(folder / "report.html", self._page(bool(plots)))
        files = [*plots, *(f"tables/{path.name}" for path in save_tables(self.tables, folder / "tables"))]
        if self.items:
            write_whole(folder / "items.jsonl", "".join(json.dumps(item) + "\n" for item in self.items))
            files.append("items.jsonl")
        record = {"title": self.title, "tables": [table.record() for table in self.tables], "files": files}
        write_whole(folder / "report.json", json.dumps(record, indent=1))
        return ["report.md", "report.html", *files, "report.json"]

    def _draw(self, folder: Path) -> dict[str, Plot]:
        """Draw the plots, and return them by file name; empty without matplotlib."""
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


def check_folder(folder: str | Path | None) -> None:
    """Check that a report can be saved to a folder, which is made; call it before the work that a failure would lose.

    :param folder: nothing if the report is only shown.
    :raises OptionError: if the folder cannot be written to.
    """
    if not folder:
        return
    folder = user_path(folder)
    with _made(folder), own_folder(folder, "report"):
        pass


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make the folder, and raise :class:`OptionError` if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        advice = remedy(error, "name another folder")
        raise OptionError(f"--out {folder} cannot be written to ({error.strerror}): {advice}") from error


def _move(files: Sequence[str], source: Path, target: Path) -> None:
    """Move a report's files, the last of which says that it is whole."""
    (target / files[-1]).unlink(missing_ok=True)
    (target / "tables").mkdir(exist_ok=True)
    for file in files:
        (source / file).replace(target / file)


def _in_brackets(text: str) -> str:
    return re.sub(r"([][])", r"\\\1", markdown_line(text))
