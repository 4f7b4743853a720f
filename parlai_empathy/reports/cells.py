"""The contents of table cells, and how they are formatted."""

from __future__ import annotations

from parlai_empathy.files.text_file import as_unicode

Cell = str | int | float | tuple[float, float] | None

NONE = "-"
"""The cell of a missing number; a note below the table says why it is missing."""

NOT_COMPUTABLE = "not computable"
"""The cell of a statistic that these data do not have; a note below the table says why."""

NO_INTERVAL = "- no interval: all resamples give the same value, as for a perfect correlation; this is no certainty"
"""The note below a table with a correlation that has no interval."""


class PValue(float):
    """A p-value, which tables format as papers do."""


def shown(cell: Cell, digits: int = 3) -> str:
    """Return a cell's text on one line.

    :param digits: the number of decimal places of a float.
    """
    if cell is None:
        return ""
    if isinstance(cell, tuple):
        return f"{decimal(cell[0], digits)} to {decimal(cell[1], digits)}"
    if isinstance(cell, PValue):
        return p_value(cell)
    return decimal(cell, digits) if isinstance(cell, float) else one_line(str(cell))


def decimal(value: float, digits: int) -> str:
    """Format a number with ``digits`` decimal places; one that rounds to zero has no sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def p_value(value: float) -> str:
    """Format a p-value as papers do."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def one_line(text: str) -> str:
    """Collapse whitespace into single spaces, and replace characters that UTF-8 cannot encode with ``?``."""
    return " ".join(as_unicode(text).split())
