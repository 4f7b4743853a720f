"""Files that an earlier report left in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.reports.plots import Bars
from parlai_empathy.reports.previous_report import remove_previous, remove_report
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table

BARS = Bars("heights", "Heights", "who", "cm", ["Ann", "Bob"], {"now": [170, 180]})
REPORT = ["report.html", "report.json", "report.md"]


def below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_only_files_of_previous_report_are_removed(tmp_path: Path) -> None:
    tables = [Table(title, ["x"], []) for title in ("t", "T", "gone")]
    Report("r", tables, [BARS], [{"id": 1}]).save(tmp_path)
    for mine in ("mine.png", "notes.jsonl", "tables/mine.csv"):
        (tmp_path / mine).write_text("x")
    written = ["heights.png", "items.jsonl", "tables/gone.csv", "tables/t.csv", "tables/t_2.csv"]
    assert below(tmp_path) == sorted([*REPORT, *written, "mine.png", "notes.jsonl", "tables/mine.csv"])
    remove_previous(tmp_path)
    assert below(tmp_path) == sorted(["report.html", "report.md", "mine.png", "notes.jsonl", "tables/mine.csv"])
    remove_previous(tmp_path)


def test_whole_report_is_removed_and_nothing_else(tmp_path: Path) -> None:
    Report("r", [Table("t", ["x"], [])], [BARS], [{"id": 1}]).save(tmp_path)
    (tmp_path / "mine.md").write_text("x")
    remove_report(tmp_path)
    assert below(tmp_path) == ["mine.md"]
    (tmp_path / "report.md").write_text("of a report that was being saved when its process was killed")
    remove_report(tmp_path)
    assert below(tmp_path) == ["mine.md"]


def test_new_report_replaces_previous_one(tmp_path: Path) -> None:
    Report("old", [Table("old", ["x"], [])], [BARS], [{"id": 1}]).save(tmp_path)
    Report("new", [Table("new", ["x"], [])]).save(tmp_path)
    assert below(tmp_path) == [*REPORT, "tables/new.csv"]


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{", "{}", '{"files": 3}', '{"files": [null]}'),
        *(f'{{"files": ["{name}"]}}' for name in ("../mine.png", "{}/mine.png", "mine.txt", "tables/../mine.png", "")),
        '{"files": ["work/mine.csv", "tables/a/b.csv", "other/items.jsonl", "\\u0000.png"]}',
    ],
)
def test_invalid_report_json_removes_nothing(tmp_path: Path, content: str) -> None:
    out = tmp_path / "out"
    for mine in ("mine.png", "out/mine.txt", "out/work/mine.csv", "out/tables/a/b.csv", "out/other/items.jsonl"):
        (tmp_path / mine).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mine).write_text("x")
    (out / "report.json").write_text(content.replace("{}/", f"{tmp_path}/"))
    before = below(tmp_path)
    remove_previous(out)
    remove_previous(tmp_path / "none")
    assert below(tmp_path) == before
