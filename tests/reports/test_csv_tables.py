"""Tables as CSV files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from full_disk import full_disk

from parlai_empathy.reports.cells import PValue
from parlai_empathy.reports.csv_tables import save_tables
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_numbers_are_unrounded_and_intervals_span_two_columns(tmp_path: Path) -> None:
    rows = [
        ["A", Number(1 / 3, "made so"), (0.1, 0.7), PValue(1e-9), 5],
        ["B, or\n\"C\"", None, "-", "-", None],
    ]  # fmt: skip
    (path,) = save_tables([Table("Mean ratings: 7!", ["system", "mean", "95 %", "p", "n"], rows)], tmp_path / "new")
    assert path == tmp_path / "new" / "mean_ratings_7.csv"
    assert read(path) == [
        ["system", "mean", "95 %: low", "95 %: high", "p", "n"],
        ["A", "0.3333333333333333", "0.1", "0.7", "1e-09", "5"],
        ['B, or "C"', "", "-", "-", "-", ""],
    ]


def test_each_table_gets_a_unique_file_name(tmp_path: Path) -> None:
    tables = [Table(title, ["x"], [[place]]) for place, title in enumerate(["Ä a", "ä A", "", "!", "x" * 300])]
    paths = save_tables(tables, tmp_path)
    assert [path.name for path in paths] == ["ä_a.csv", "ä_a_2.csv", "table.csv", "table_2.csv", f"{'x' * 60}.csv"]
    assert [read(path)[1] for path in paths] == [["0"], ["1"], ["2"], ["3"], ["4"]]


def test_full_disk_keeps_previous_file(tmp_path: Path) -> None:
    [path] = save_tables([Table("t", ["x"], [[1]])], tmp_path)
    with full_disk(), pytest.raises(OSError, match="File too large"):
        save_tables([Table("t", ["x"], [[place] for place in range(100)])], tmp_path)
    assert read(path) == [["x"], ["1"]]
    assert list(tmp_path.iterdir()) == [path]


def test_saving_again_overwrites(tmp_path: Path) -> None:
    table = Table("t", ["x"], [])
    assert save_tables([table], tmp_path) == save_tables([table], tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
