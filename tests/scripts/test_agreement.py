"""``parlai agreement`` on HUMOD's sample and on files of ratings."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from parlai_empathy.errors import DataError, NotComputableError, OptionError
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scripts.agreement import AgreementOfRaters
from parlai_empathy.statistics.agreement import agreement
from parlai_empathy.tasks.humod.build import SAMPLE

QUICK: dict[str, Any] = {"resamples": 10, "loglevel": "error"}


def run(**options: Any) -> Report:
    return AgreementOfRaters.main(**{**QUICK, **options})  # type: ignore[no-any-return]


def sample_rows() -> list[dict[str, str]]:
    """The fields of the sample's rows. Count them from the right, because the context contains tabs."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [{"item": row[0], "rater": row[-6], "rating": row[-3], "question": "relevance"} for row in rows]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def numbers(table: Table) -> dict[str, tuple[Any, Any]]:
    return {str(row[0]): (row[1], row[2]) for row in table.rows}


# --- HUMOD -----------------------------------------------------------------------------------------------------------


def test_sample_report_shows_agreement_and_paper_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run(edition="sample", out=str(tmp_path / "out"))
    assert report.text() in capsys.readouterr().out
    (table,) = report.tables
    assert (report.title, table.title) == (
        "HUMOD: agreement of raters (HUMOD_Dataset.TXT, sample)",
        "relevance: 240 items, 720 ratings",
    )
    assert [row[3] for row in table.rows][:4] == [0.86, 0.57, 0.55, 0.42]
    items: dict[str, list[int]] = {}
    for row in sample_rows():
        items.setdefault(row["item"], []).append(int(row["rating"]))
    direct = agreement(list(items.values()), [1, 2, 3, 4, 5], 0, 10)
    assert numbers(table)["Krippendorff's alpha, ordinal"] == (
        direct.alphas["ordinal"].value,
        (direct.alphas["ordinal"].low, direct.alphas["ordinal"].high),
    )
    with Image.open(tmp_path / "out" / "agreement_relevance.png") as image:
        assert (image.format, image.size) == ("PNG", (960, 540))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_ratings_file_gives_same_agreement_as_humod_sample(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"ratings.{suffix}"
    if suffix == "csv":
        write_csv(path, sample_rows())
    else:
        path.write_text("".join(json.dumps({**row, "rating": int(row["rating"])}) + "\n" for row in sample_rows()))
    ours, humods = run(ratings=str(path), scale=[1, 2, 3, 4, 5]), run(edition="sample")
    assert numbers(ours.tables[0]) == numbers(humods.tables[0])
    assert ours.tables[0].title == humods.tables[0].title
    assert (ours.title, list(ours.tables[0].header)) == (
        f"Agreement: ratings.{suffix}",
        ["measure", "value", "95 % interval"],
    )


def test_humod_file_option_is_read_and_seed_changes_intervals() -> None:
    assert numbers(run(humod_file=str(SAMPLE)).tables[0]) == numbers(run(edition="sample").tables[0])
    assert numbers(run(edition="sample", seed=1).tables[0]) != numbers(run(edition="sample").tables[0])


def pair(number: int, **changes: Any) -> dict[str, Any]:
    kind = "original" if number % 2 else "random_distractor"
    return {
        "id": str(number),
        "context": ["a"],
        "reply": f"b{number}",
        "reply_kind": kind,
        "human_replies": [],
        **changes,
    }


def test_humod_file_with_only_means_is_not_computable(tmp_path: Path) -> None:
    path = tmp_path / "means.jsonl"
    path.write_text("".join(json.dumps(pair(n, human_relevance_mean=3.0)) + "\n" for n in range(4)))
    message = f"{path} has no individual ratings, only their means: use the official file"
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        run(humod_file=str(path))


def test_pairs_without_individual_ratings_are_skipped_with_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    path = tmp_path / "some.jsonl"
    rated = [pair(1, ratings=[1, 2]), pair(2, ratings=[5, 5]), pair(3, ratings=[2, 2]), pair(4, ratings=[4, 5])]
    path.write_text(
        "".join(json.dumps(one) + "\n" for one in [*rated, pair(5, ratings=[]), pair(6, human_relevance_mean=2)])
    )
    assert run(humod_file=str(path)).tables[0].title == "relevance: 4 items, 8 ratings"
    assert warnings == [f"{path}: left out 2 pair(s) without individual ratings"]


# --- files of ratings ------------------------------------------------------------------------------------------------

QUESTIONS = ["Relevant?", "Fluent?"]
ROWS = [
    {"question": question, "item": item, "rater": rater, "rating": (item * (place + 1) + len(rater)) % 3}
    for place, question in enumerate(QUESTIONS)
    for item in range(1, 7)
    for rater in ("Al", "Bea", "Cyd")
]


def test_each_question_has_a_table_and_plot(tmp_path: Path) -> None:
    report = run(ratings=str(write_csv(tmp_path / "r.csv", ROWS)), out=str(tmp_path / "out"))
    assert [table.title for table in report.tables] == [f"{question}: 6 items, 18 ratings" for question in QUESTIONS]
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {
        "agreement_relevant.png",
        "agreement_fluent.png",
        "report.html",
        "report.json",
        "report.md",
        "tables",
    }
    for place, question in enumerate(QUESTIONS):
        items = [
            [row["rating"] for row in ROWS if (row["question"], row["item"]) == (question, n)] for n in range(1, 7)
        ]
        fleiss = agreement(items, [0, 1, 2], 0, 10).fleiss
        assert numbers(report.tables[place])["Fleiss' kappa"] == (fleiss.value, (fleiss.low, fleiss.high))


def test_raters_excluded_by_the_study_do_not_count(tmp_path: Path) -> None:
    good = [{**row, "excluded": ""} for row in ROWS]
    spam = [{**row, "rater": "Spam", "rating": 2 - row["rating"], "excluded": "too fast"} for row in ROWS[::3]]
    with_spam, without = (
        run(ratings=str(write_csv(tmp_path / f"{len(rows)}.csv", rows))) for rows in ([*good, *spam], good)
    )
    assert [numbers(table) for table in with_spam.tables] == [numbers(table) for table in without.tables]


def test_scale_is_not_that_of_comparisons(tmp_path: Path) -> None:
    pairs = [[1, 0, -1], [1, 1, 1], [0, 0, 1], [-1, -1, 0]]
    rows = [
        {"question": question, "item": item, "rater": rater, "rating": rating, "other": "B", "kind": kind}
        for question, kind, step in (("better", "preference", 0), ("both", "likert", 3))
        for item, ratings in enumerate(pairs)
        for rater, rating in zip("abc", (one + step for one in ratings), strict=True)
    ]
    path = write_csv(tmp_path / "r.csv", [{"system": "A", **row} for row in rows])
    both, better = run(ratings=str(path), scale=[1, 2, 3, 4, 5]).tables
    alpha = agreement(pairs, [-1, 0, 1], 0, 10).alphas["interval"].value
    for table in (better, both):
        assert numbers(table)["Krippendorff's alpha, interval"][0] == pytest.approx(alpha)
    assert ("scale:-1..1|values:3" in better.notes[0], "scale:1..5|values:5" in both.notes[0]) == (True, True)


def test_question_asked_about_single_replies_and_comparisons_is_two_questions(tmp_path: Path) -> None:
    single = [
        {"item": item, "rater": rater, "rating": rating, "system": "A", "question": "empathy"}
        for item, ratings in enumerate([[4, 5, 5], [1, 1, 2], [3, 3, 5]])
        for rater, rating in zip("abc", ratings, strict=True)
    ]
    compared = [{**one, "rating": int(one["rating"] > 3) - 1, "other": "B"} for one in single]
    rows = [{"other": "", **one} for one in (*single, *compared)]
    first, second = run(ratings=str(write_csv(tmp_path / "r.csv", rows)), scale=[1, 2, 3, 4, 5]).tables
    assert [table.title for table in (first, second)] == [
        "empathy: 3 items, 9 ratings",
        "empathy (A or B): 3 items, 9 ratings",
    ]
    assert any("scale:1..5|values:5" in note for note in first.notes)
    assert any("scale:-1..1|values:3" in note for note in second.notes)


def test_choices_have_no_agreement(tmp_path: Path) -> None:
    rows = [
        {"item": item, "rater": rater, "rating": rating, "text": ["sad", "joy"][rating], "kind": "choice"}
        for item in (1, 2)
        for rater, rating in (("a", 0), ("b", 1))
    ]
    with pytest.raises(NotComputableError, match=r"has only choices, which have no order"):
        run(ratings=str(write_csv(tmp_path / "r.csv", rows)))


def test_off_scale_rating_raises_or_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "r.csv", [*ROWS, {"question": "Relevant?", "item": 1, "rater": "Dan", "rating": 7}])
    message = f"{path}, line 38, column rating: '7' is not on the scale 0, 1, 2"
    with pytest.raises(
        DataError, match=rf"^{re.escape(message)} \(or leave such rows out with --skip-bad-rows true\)$"
    ):
        run(ratings=str(path), scale=[0, 1, 2])
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    report = run(ratings=str(path), scale=[0, 1, 2], skip_bad_rows=True)
    assert warnings == [f"{path}: left out 1 bad row(s):", f"  {message}"]
    assert numbers(report.tables[0]) == numbers(run(ratings=str(write_csv(tmp_path / "s.csv", ROWS))).tables[0])


def test_conflicting_rating_source_options_raise_option_error(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "r.csv", ROWS)
    with pytest.raises(OptionError, match=r"^--ratings and --humod-file: name only one of them$"):
        run(ratings=str(path), humod_file=str(SAMPLE))
    with pytest.raises(
        OptionError, match=r"^--scale: HUMOD's scale is fixed: name --ratings as well, or leave it out$"
    ):
        run(edition="sample", scale=[1.0, 2.0])


@pytest.mark.parametrize("scale", [[], [3.0], [3.0, 3.0]])
def test_scale_needs_two_distinct_values(tmp_path: Path, scale: list[float]) -> None:
    with pytest.raises(
        OptionError, match=r"^--scale: name at least two different values, for instance --scale 1 2 3 4 5$"
    ):
        run(ratings=str(write_csv(tmp_path / "r.csv", ROWS)), scale=scale)


def test_file_without_comparable_ratings_is_not_computable(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,rater,rating\n")
    with pytest.raises(
        NotComputableError, match=f"^{re.escape(str(path))} has no ratings: a row with a rating is needed"
    ):
        run(ratings=str(path))
    path.write_text("item,rater,rating\n1,Al,3\n2,Al,4\n")
    with pytest.raises(NotComputableError, match=r"^no agreement: no item has two ratings of the same question$"):
        run(ratings=str(path))


@pytest.mark.parametrize(("option", "value", "least"), [("seed", -1, 0), ("resamples", 0, 1)])
def test_invalid_seed_or_resamples_raise_option_error(option: str, value: int, least: int) -> None:
    with pytest.raises(OptionError, match=rf"^--{option} {value}: must be at least {least}$"):
        run(edition="sample", **{option: value})
