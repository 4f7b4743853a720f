"""Formatting of cells."""

from __future__ import annotations

import pytest

from parlai_empathy.reports.cells import Cell, PValue, one_line, p_value, shown


def test_p_value_formatting() -> None:
    assert [p_value(value) for value in (0.0, 0.0009, 0.001, 0.04951, 1.0)] == [
        *("< 0.001", "< 0.001", "0.001", "0.050", "1.000")
    ]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (3, "3"),
        (0.126, "0.13"),
        ((0.0, 1.005), "0.00 to 1.00"),
        (-0.004, "0.00"),
        (-0.006, "-0.01"),
        ((-0.3, -0.0), "-0.30 to 0.00"),
        (float("nan"), "nan"),
        (PValue(0.0001), "< 0.001"),
        ("a\n b", "a b"),
    ],
)
def test_shown_formats_cells_with_two_digits(cell: Cell, text: str) -> None:
    assert shown(cell, 2) == text


def test_one_line_collapses_whitespace() -> None:
    assert one_line(" a\r\n\tb  c ") == "a b c"


def test_lone_surrogates_are_replaced() -> None:
    """A surrogate, which Python uses for a byte in a file name that is not UTF-8."""
    assert one_line("model/\udcff \U0001f600") == "model/? \U0001f600"
    assert shown("a\ud800b") == "a?b"
