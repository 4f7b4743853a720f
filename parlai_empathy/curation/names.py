"""Names that are also options' values, for ``parlai --help``: it need not import the engines."""

from __future__ import annotations

ENGINES = ("duckdb", "spark")
