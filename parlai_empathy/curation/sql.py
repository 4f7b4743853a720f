"""Values as SQL that both engines read alike."""

from __future__ import annotations


def quoted(text: str) -> str:
    """Return SQL for a text."""
    return "'" + text.replace("'", "''") + "'"


def double(value: float) -> str:
    """Return SQL for a number that both engines read as the same double: a bare 0.1 is a decimal."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
