"""``parlai humod_report`` on the sample, compared with counts from the file itself."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from PIL import Image

from parlai_empathy.errors import DataError
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.humod_report import HumodReport
from parlai_empathy.tasks.humod.build import SAMPLE


def run(**options: Any) -> Report:
    return HumodReport.main(loglevel="error", **options)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    """The fields of the sample's rows. From the right: reply, label, worker, age, gender, score, human reply, time."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return rows


def said(turn: str) -> str:
    """Return a turn without its speaker."""
    return turn.split(": ", 1)[1].strip()


def table_of(report: Report, title: str) -> list[list[Any]]:
    (table,) = [table for table in report.tables if table.title == title]
    return [list(row) for row in table.rows]


def test_size_and_turn_tables_match_counts_from_file(rows: list[list[str]]) -> None:
    report = run(edition="sample")
    pairs = {row[0]: row for row in rows}
    contexts = {tuple(row[1:-8]) for row in rows}
    assert table_of(report, "Size") == [
        ["pairs of context and reply", len(pairs)],
        ["different contexts", len(contexts)],
        ["pairs with an original reply", sum(row[-7] == "0" for row in pairs.values())],
        ["pairs with a random reply", sum(row[-7] == "1" for row in pairs.values())],
        ["human replies", len(rows)],
        ["rated pairs", len(pairs)],
        ["single ratings", len(rows)],
    ]
    turns = Counter(len(context) + 1 for context in contexts)
    assert table_of(report, "Turns, the reply counted") == [[n, turns[n]] for n in sorted(turns)]


def test_length_table_matches_counts_from_file(rows: list[list[str]]) -> None:
    originals = {row[0]: said(row[-8]) for row in rows if row[-7] == "0"}
    texts = {
        "original replies": list(originals.values()),
        "human replies": [row[-2] for row in rows],
        "turns of contexts": [said(turn) for context in {tuple(row[1:-8]) for row in rows} for turn in context],
    }
    lengths = {name: [len(text.split()) for text in found] for name, found in texts.items()}
    assert table_of(run(edition="sample"), "Length in words") == [
        [name, len(found), pytest.approx(fmean(found)), median(found), max(found)] for name, found in lengths.items()
    ]


def test_rating_tables_match_counts_from_file(rows: list[list[str]]) -> None:
    report = run(edition="sample")
    counts = {kind: Counter(int(row[-3]) for row in rows if row[-7] == kind) for kind in "01"}
    found = table_of(report, "Ratings of original and random replies")
    assert [row[1:6] for row in found] == [[counts[kind][value] for value in range(1, 6)] for kind in "01"]
    means = [fmean(int(row[-3]) for row in rows if row[-7] == kind) for kind in "01"]
    assert [row[6] for row in found] == pytest.approx(means)  # three ratings each: the mean of means is the mean
    shares = table_of(report, "Beside the paper's figures")
    assert [row[1] for row in shares] == pytest.approx(
        [
            fmean(int(row[-3]) > 3 for row in rows if row[-7] == "0"),
            fmean(int(row[-3]) < 3 for row in rows if row[-7] == "1"),
        ]
    )
    for column, name in ((-5, "age"), (-4, "gender")):
        groups = {
            value: [row for row in rows if row[column] == value] for value in sorted({row[column] for row in rows})
        }
        assert table_of(report, f"Ratings by the raters' {name}") == [
            [value, len(given), pytest.approx(fmean(int(row[-3]) for row in given)), len({row[-6] for row in given})]
            for value, given in groups.items()
        ]


def test_report_is_printed_and_saved_with_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run(edition="sample", out=str(tmp_path / "out"))
    assert report.text() in capsys.readouterr().out
    assert report.title == "HUMOD: the data (HUMOD_Dataset.TXT, sample)"
    plots = ["lengths", "ratings", "ratings_by_age", "ratings_by_gender", "turns"]
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.png")) == plots
    for plot in plots:
        with Image.open(tmp_path / "out" / f"{plot}.png") as image:
            assert (image.format, image.size) == ("PNG", (960, 540))
    saved = json.loads((tmp_path / "out" / "report.json").read_text())
    assert saved["tables"][0]["rows"] == table_of(report, "Size")


def test_bad_rows_raise_or_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    good = {"id": "1", "context": ["a"], "reply": "b", "reply_kind": "original", "human_replies": ["c"], "ratings": [5]}
    path.write_text(json.dumps(good) + "\n" + json.dumps({**good, "id": "2", "ratings": [6]}) + "\n")
    with pytest.raises(DataError, match=rf"^{path}, line 2, column ratings: \[6\] "):
        run(humod_file=str(path))
    assert table_of(run(humod_file=str(path), skip_bad_rows=True), "Size")[0] == ["pairs of context and reply", 1]


def test_real_humod_copy_sizes_and_turns(real_data: Path) -> None:
    report = run(humod_file=str(real_data / "humod" / "humod_9500.jsonl"), skip_bad_rows=True)
    sizes = dict(table_of(report, "Size"))
    assert (sizes["pairs of context and reply"], sizes["rated pairs"], sizes["single ratings"]) == (9499, 700, 0)
    # The paper's dialogues have 2 to 7 turns.
    assert [row[0] for row in table_of(report, "Turns, the reply counted")] == [2, 3, 4, 5, 6, 7]
