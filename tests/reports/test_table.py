"""Markdown tables, parsed again."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.reports.cells import Cell, PValue
from parlai_empathy.reports.table import Table


def cells_of(line: str) -> list[str]:
    """Return the cells of a table's line by GitHub's grammar: split at each ``|``, with entities decoded."""
    assert line.startswith("| ")
    assert line.endswith(" |")
    return [html.unescape(cell.strip()) for cell in line[1:-1].split("|")]


def read(markdown: str) -> list[list[str]]:
    """Return the header and rows of the only table in a text."""
    lines = [line for line in markdown.split("\n") if line.startswith("|")]
    assert re.fullmatch(r"\|(-{3,}\|)+", lines[1].replace(" ", ""))
    assert len(set(map(len, lines))) == 1, "the columns are aligned"
    return [cells_of(line) for line in (lines[0], *lines[2:])]


def test_table_as_markdown() -> None:
    table = Table("Lengths", ["text", "words"], [("original", 7), ("human", 6.5)], ["- counted by hand"])
    assert table.text().split("\n") == [
        "## Lengths",
        "",
        "| text     | words |",
        "|----------|-------|",
        "| original | 7     |",
        "| human    | 6.500 |",
        "",
        "- counted by hand",
    ]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, ""),
        (0, "0"),
        (12_345, "12345"),
        (0.0, "0.000"),
        (-0.12349, "-0.123"),
        ((0.1, 0.25), "0.100 to 0.250"),
        (PValue(0.0499), "0.050"),
        (PValue(0.001), "0.001"),
        (PValue(0.00099), "< 0.001"),
        ("a  b", "a b"),
        ("one\ntwo\r\nthree", "one two three"),
        ("a|b", "a|b"),
        ("a\\|b", "a\\|b"),
    ],
)
def test_markdown_cell_formatting(cell: Cell, shown: str) -> None:
    assert read(Table("t", ["x"], [[cell]]).text()) == [["x"], [shown]]


# Without &, because tables do not escape entities such as &lt;.
texts = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="&"), max_size=12)


@given(rows=st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=4), title=texts, note=texts)
def test_arbitrary_text_round_trips_through_markdown_table(rows: list[list[str]], title: str, note: str) -> None:
    text = Table(title, rows[0], rows[1:], [f"- {note}"]).text()
    assert read(text) == [[" ".join(cell.split()) for cell in row] for row in rows]
    assert html.unescape(text.split("\n")[0]) == f"## {' '.join(title.split())}"
    assert len(text.split("\n")) == 2 + 1 + len(rows) + 2, "title, blank; rule and rows; blank, note"


def test_table_without_rows() -> None:
    assert read(Table("t", ["a", "b"], []).text()) == [["a", "b"]]


def test_digits_are_set_per_table() -> None:
    table = Table("t", ["x", "y"], [[0.125, (1.0, 2.0)]], digits=1)
    assert read(table.text())[1] == ["0.1", "1.0 to 2.0"]
