"""``parlai ratings_report``: from a file of ratings to the report's files."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parlai_empathy.errors import DataError, EmpathyError, NotComputableError, OptionError
from parlai_empathy.rating.analysis.differences import How
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.reports.ratings.report import Wishes, ratings_report
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scripts.ratings_report import RatingsReport

QUICK: dict[str, Any] = {"resamples": 10, "loglevel": "error"}
HEADER = [
    "item",
    "system",
    "other",
    "question",
    "rater",
    "rating",
    "text",
    "when",
    "seconds",
    "study",
    "version",
    "check",
]


def run(**options: Any) -> Report:
    return RatingsReport.main(**{**QUICK, **options})  # type: ignore[no-any-return]


def rows(raters: int = 4, items: int = 6) -> list[dict[str, Any]]:
    """A small study; the last rater fails both checks."""
    generator = np.random.default_rng(0)
    found = []
    for rater in range(raters):
        common = {"rater": f"w{rater}", "study": "s", "version": "1", "when": "2026-01-02T03:04:05Z"}
        for item in range(items):
            for shift, system in enumerate(("A", "B")):
                value = int(generator.integers(1, 5)) + shift
                found.append({**common, "item": f"i{item}", "system": system, "question": "empathy", "rating": value})
            preference = int(generator.integers(-1, 2))
            found.append(
                {**common, "item": f"i{item}", "system": "B", "other": "A", "question": "which", "rating": preference}
            )
            found.append({**common, "item": f"i{item}", "system": "A", "question": "own", "text": f"What, {item}?"})
        for check in range(2):
            answer = 5 if rater == raters - 1 else 1
            found.append(
                {**common, "item": f"c{check}", "system": "check", "question": "empathy", "rating": answer, "check": 1}
            )
    return found


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    return write(tmp_path / "ratings.csv", rows())


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADER, restval="")
        writer.writeheader()
        writer.writerows(records)
    return path


def table(report: Report, title: str) -> Table:
    return next(one for one in report.tables if one.title == title)


def test_report_is_printed_and_saved(ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    report = run(ratings=str(ratings), out=str(out))
    assert report.text() in capsys.readouterr().out
    assert report.title == "Ratings: ratings.csv"
    assert {path.name for path in out.iterdir() if path.suffix != ".png"} == {
        *("report.md", "report.html", "report.json", "items.jsonl", "flagged.csv", "tables"),
    }
    assert {path.stem for path in out.glob("*.png")} == {plot.name for plot in report.plots}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<img ") == len(report.plots)
    assert "http://" not in re.sub(r'src="data:[^"]*"', "", page)
    means = list(csv.reader((out / "tables" / "mean_ratings_with_intervals.csv").open(encoding="utf-8")))
    assert means[0][-2:] == ["95 % interval: low", "95 % interval: high"]
    values = [row["rating"] for row in rows() if (row["question"], row["system"]) == ("empathy", "A")]
    assert float(means[1][5]) == pytest.approx(np.mean(values))
    assert (out / "flagged.csv").read_text() == "rater,reason\nw3,2 of 2 checks failed\n"
    json.loads((out / "report.json").read_text())


def test_jsonl_and_csv_give_the_same_tables(ratings: Path, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    assert [one.rows for one in run(ratings=str(path)).tables] == [one.rows for one in run(ratings=str(ratings)).tables]


def test_excluding_raters_by_file_or_flag_is_equivalent(ratings: Path, tmp_path: Path) -> None:
    run(ratings=str(ratings), out=str(tmp_path / "out"))
    by_file = run(ratings=str(ratings), exclude=str(tmp_path / "out" / "flagged.csv"))
    by_flag = run(ratings=str(ratings), exclude_flagged=True)
    assert [one.rows for one in by_file.tables] == [one.rows for one in by_flag.tables]
    assert [list(row) for row in table(by_flag, "Left out").rows] == [["w3", 26, "2 of 2 checks failed"]]
    nobody = write(tmp_path / "none.csv", [])
    nobody.write_text("rater,reason\n")
    back = run(ratings=str(ratings), exclude=str(nobody))
    assert [one.rows for one in back.tables] == [one.rows for one in run(ratings=str(ratings)).tables]
    assert run(ratings=str(ratings), exclude_flagged=True, check_tolerance=4.0).tables[-1].title == "Raters"


def test_edited_exclude_list_in_out_folder_is_not_overwritten(
    ratings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    flagged, left_out = tmp_path / "out" / "flagged.csv", tmp_path / "out" / "tables" / "left_out.csv"
    run(ratings=str(ratings), out=str(tmp_path / "out"))
    edited = "rater,reason\nw0,I know him\n"
    flagged.write_text(edited)
    for exclude in (str(flagged), "~/out/flagged.csv"):
        run(ratings=str(ratings), exclude=exclude, out=str(tmp_path / "out" / ".." / "out"))
        assert flagged.read_text() == edited
    assert "w0" in left_out.read_text()
    run(ratings=str(ratings), out=str(tmp_path / "out"))
    assert "w3" in flagged.read_text()
    assert not left_out.exists()


def test_hide_raters_removes_names_from_the_report(ratings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(ratings=str(ratings), hide_raters=True, exclude_flagged=True, out=str(out))
    for path in [*out.glob("report.*"), *(out / "tables").iterdir()]:
        assert not re.search(r"\bw[0-3]\b", re.sub(r'src="data:[^"]*"', "", path.read_text(encoding="utf-8"))), path
    assert "rater 4" in (out / "report.md").read_text()
    assert "w3" in (out / "flagged.csv").read_text()


def test_options_are_passed_to_the_computations(ratings: Path) -> None:
    report = run(
        ratings=str(ratings), resample="both", test="permutation", unit="rating", seed=3, scale=[1, 2, 3, 4, 5]
    )
    notes = "\n".join(note for one in report.tables for note in one.notes)
    for part in ("drawn:both", "permutation of pairs|", "unit:rating", "seed:3", "scale:1..5"):
        assert part in notes
    wishes = Wishes(How("permutation", "both", 10, 3), "rating", [1, 2, 3, 4, 5])
    assert report == ratings_report(report.title, ratings_of(ratings), wishes)[0]


def test_items_file_adds_metric_correlations(ratings: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text(
        "".join(
            json.dumps({"system": system, "item": f"i{item}", "reply": "x", "length": item + 3 * (system == "B")})
            + "\n"
            for system in "AB"
            for item in range(6)
        )
    )
    found = table(run(ratings=str(ratings), items=str(items)), "People's ratings and automatic metrics")
    assert [tuple(row[:3]) for row in found.rows] == [("empathy", "length", 12), ("which", "length", 6)]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"ratings": ""}, OptionError, "--ratings: name a .csv or .jsonl file of ratings"),
        ({"resamples": 0}, OptionError, "--resamples 0: must be at least 1"),
        ({"seed": -1}, OptionError, "--seed -1: must be at least 0"),
        ({"check_tolerance": -0.5}, OptionError, "--check-tolerance -0.5: must be at least 0"),
        ({"check_tolerance": math.nan}, OptionError, "--check-tolerance nan: must be at least 0"),
        ({"scale": [3.0]}, OptionError, "--scale: name at least two different values, for instance --scale 1 2 3 4 5"),
        ({"exclude": "none.csv"}, DataError, "none.csv cannot be read"),
        ({"items": "none.jsonl"}, DataError, "none.jsonl cannot be read"),
        ({"scale": [1.0, 2.0]}, DataError, "is not on the scale 1, 2"),
    ],
)
def test_invalid_options_raise_one_line_errors(
    ratings: Path, options: dict[str, Any], kind: type[EmpathyError], message: str
) -> None:
    with pytest.raises(kind) as error:
        run(**{"ratings": str(ratings), **options})
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_out_folder_of_items_file_raises_instead_of_overwriting(ratings: Path, tmp_path: Path) -> None:
    items = tmp_path / "scores" / "items.jsonl"
    items.parent.mkdir()
    items.write_text("{}")
    with pytest.raises(OptionError, match=r"^--out .*scores: the report would overwrite .*items\.jsonl: name"):
        run(ratings=str(ratings), items=str(items), out=str(items.parent))
    assert items.read_text() == "{}"


def test_empty_file_is_not_computable(tmp_path: Path) -> None:
    path = write(tmp_path / "empty.csv", [])
    with pytest.raises(NotComputableError, match=f"^{re.escape(str(path))} has no ratings: a row with a rating"):
        run(ratings=str(path))


def test_bad_rows_raise_or_are_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", [*rows(), {"item": "i0", "rater": "w0", "rating": "x"}])
    with pytest.raises(DataError, match="column rating: 'x' is not a number"):
        run(ratings=str(path))
    assert run(ratings=str(path), skip_bad_rows=True).tables[0].rows
