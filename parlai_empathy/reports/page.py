"""Renders a report as a self-contained HTML page, with its styles and plots embedded."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from parlai_empathy.reports.cells import Cell, one_line, shown
from parlai_empathy.reports.table import Table

# Wide tables scroll in their own frame with the row names in view, and plots, whose letters would be too small, in
# theirs: so the page fits the width of a phone.
_STYLE = """
:root { color-scheme: light dark }
body { background: Canvas; font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1.2rem; margin-top: 2.5rem }
.wide { overflow-x: auto; border: 1px solid #8886; border-radius: .4rem }
table { border-collapse: collapse; font-size: .9rem; width: 100% }
th, td { padding: .35rem .7rem; text-align: left; border-bottom: 1px solid #8883; vertical-align: top }
.number { text-align: right } td.number { font-variant-numeric: tabular-nums; white-space: nowrap }
thead th { border-bottom: 2px solid #8886; vertical-align: bottom }
tbody th { font-weight: inherit }
tr > :first-child { position: sticky; left: 0; background: Canvas }
tbody tr:last-child > * { border-bottom: 0 }
details { margin: .7rem 0; font-size: .85rem } summary { cursor: pointer } li { overflow-wrap: anywhere }
figure { margin: 2rem 0; overflow-x: auto }
figure img { width: 48rem; max-width: 100%; min-width: 34rem; height: auto; background: #fff; border-radius: .4rem }
"""

_TEXT = 32  # characters: shorter cells are not wrapped; longer ones are, which leaves room for numbers


def page(title: str, tables: Sequence[Table], images: Sequence[tuple[str, bytes]]) -> str:
    """Return the page's HTML.

    :param images: the title and the SVG of each plot.
    """
    name = escape(one_line(title))
    parts = [*map(_table, tables), *(_figure(text, svg) for text, svg in images)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{name}</h1>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _table(table: Table) -> str:
    numbers = [place > 0 and _has_numbers(table, place) for place in range(len(table.header))]
    header = "".join(_head(table, place, is_number) for place, is_number in enumerate(numbers))
    rows = "\n".join(f"<tr>{_row(row, table.digits, numbers)}</tr>" for row in table.rows)
    return (
        f'<h2>{escape(one_line(table.title))}</h2>\n<div class="wide" tabindex="0">\n<table>\n'
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>{_notes(table.notes)}"
    )


def _has_numbers(table: Table, place: int) -> bool:
    """Whether a column has numbers; some of its cells may hold text instead."""
    return any(not isinstance(row[place], str | None) for row in table.rows)


def _head(table: Table, place: int, is_number: bool) -> str:
    """Return a column header: right-aligned for numbers; for text with a minimum width that limits wrapping."""
    letters = max((len(shown(row[place], table.digits)) for row in table.rows), default=0)
    look = ' class="number"' if is_number else f' style="min-width: min({min(letters, _TEXT)}ch, 40vw)"'
    return f'<th scope="col"{look}>{escape(one_line(table.header[place]))}</th>'


def _row(row: Sequence[Cell], digits: int, numbers: Sequence[bool]) -> str:
    name = "".join(f'<th scope="row">{escape(shown(cell, digits))}</th>' for cell in row[:1])
    cells = zip(row[1:], numbers[1:], strict=True)
    return name + "".join(_cell(cell, digits, is_number) for cell, is_number in cells)


def _cell(cell: Cell, digits: int, is_number: bool) -> str:
    """Return a cell; a number's signature is its tooltip."""
    signature = getattr(cell, "signature", None)
    title = f' title="{escape(signature)}"' if signature else ""
    look = ' class="number"' if is_number else ""
    return f"<td{look}{title}>{escape(shown(cell, digits))}</td>"


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "\n".join(f"<li>{escape(one_line(note).removeprefix('- '))}</li>" for note in notes)
    return f"\n<details>\n<summary>Notes and signatures</summary>\n<ul>\n{items}\n</ul>\n</details>"


def _figure(title: str, svg: bytes) -> str:
    data = base64.b64encode(svg).decode()
    text = escape(one_line(title))
    return f'<figure tabindex="0"><img alt="{text}" src="data:image/svg+xml;base64,{data}"></figure>'
