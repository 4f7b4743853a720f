"""A table of a report, and how it is written in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parlai_empathy.reports.cells import Cell, one_line, shown


@dataclass(frozen=True)
class Table:
    """A table.

    :param header: the columns' names.
    :param rows: each with one cell per column; a pair is shown as an interval, None as an empty cell.
    :param notes: explanations, such as the numbers' signatures.
    :param digits: the number of decimal places of floats.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    digits: int = 3

    def text(self) -> str:
        """Return the table in Markdown, with aligned columns."""
        lines = [[_in_markdown(shown(cell, self.digits)) for cell in line] for line in (self.header, *self.rows)]
        widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(self.header))]
        aligned = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        rule = "|".join("-" * (width + 2) for width in widths)
        table = [f"| {aligned[0]} |", f"|{rule}|", *(f"| {line} |" for line in aligned[1:])]
        notes = ["", *map(markdown_line, self.notes)] if self.notes else []
        return "\n".join([f"## {markdown_line(self.title)}", "", *table, *notes])

    def record(self) -> dict[str, Any]:
        """Return the table for JSON, with unrounded numbers, and their signatures if there are any."""
        signatures = [[getattr(cell, "signature", None) for cell in row] for row in self.rows]
        return {
            "title": self.title,
            "header": list(self.header),
            "rows": [list(row) for row in self.rows],
            **({"signatures": signatures} if any(map(any, signatures)) else {}),
            "notes": list(self.notes),
        }


def _in_markdown(text: str) -> str:
    """Escape ``|``, which would end the cell, and tags."""
    return _without_tags(text).replace("|", "&#124;")


def markdown_line(text: str) -> str:
    """Return a text as one line of Markdown, outside tables."""
    return _without_tags(one_line(text))


def _without_tags(text: str) -> str:
    """Escape each ``<`` that may begin an HTML tag, which Markdown would not show; it does not in ``< 0.001``."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
