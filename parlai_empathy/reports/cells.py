"""What stands in the cells of tables, and how it is shown."""

from __future__ import annotations

from parlai_empathy.files.text_file import as_unicode

Cell = str | int | float | tuple[float, float] | None


class PValue(float):
    """A p-value, which tables show as papers print it."""


def shown(cell: Cell, digits: int = 3) -> str:
    """A cell's text, in one line.

    :param digits: of a float, behind its point.
    """
    if cell is None:
        return ""
    if isinstance(cell, tuple):
        return f"{cell[0]:.{digits}f} to {cell[1]:.{digits}f}"
    if isinstance(cell, PValue):
        return p_value(cell)
    return f"{cell:.{digits}f}" if isinstance(cell, float) else one_line(str(cell))


def p_value(value: float) -> str:
    """A p-value as papers print it."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def one_line(text: str) -> str:
    """A text with single spaces in place of line breaks and the like, and ``?`` for what no file could hold."""
    return " ".join(as_unicode(text).split())
