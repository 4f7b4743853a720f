"""``parlai ratings_power``: from the options to the tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parlai_empathy.errors import EmpathyError, NotComputableError, OptionError
from parlai_empathy.rating.analysis.variance import spread
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.reports.ratings.power import Aim, Scale, likert_needed, likert_seen, wins_needed, wins_seen
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.ratings_power import RatingsPower
from parlai_empathy.statistics.likert_power import LikertDesign, likert_items

QUICK: dict[str, Any] = {"runs": 20, "loglevel": "error", "raters": [2]}


def run(**options: Any) -> Report:
    return RatingsPower.main(**{**QUICK, **options})  # type: ignore[no-any-return]


def titles(report: Report) -> list[str]:
    return [table.title for table in report.tables]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "question", "rater", "rating"])
        for item in range(20):
            shared = generator.normal()
            for system in "AB":
                for rater in range(3):
                    for question in ("empathy", "fluency"):
                        value = int(np.clip(round(3 + shared + generator.normal()), 1, 4))
                        writer.writerow([item, system, question, rater, value])
    return path


def test_raters_excluded_by_the_study_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    good = [(item, f"r{item % 3}", value, "") for item, value in enumerate([1, 2, 3, 4, 4, 5])]
    spam = [(item, "spam", 1, "too fast") for item in range(6)]
    texts = []
    for rows in ([*good, *spam], good):
        lines = ["item,rater,rating,excluded", *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines))
        texts.append(run(ratings=str(path), difference=[0.5]).text())
    assert texts[0] == texts[1]


def test_versions_of_a_study_on_different_scales_are_noted(tmp_path: Path) -> None:
    rows = [f"{item},ann,{1 + item % most},{most} points" for most in (5, 7) for item in range(most)]
    (path := tmp_path / "ratings.csv").write_text("\n".join(["item,rater,rating,version", *rows]))
    [table] = run(ratings=str(path), difference=[0.5]).tables
    assert "use different points ((no study) 5 points: 1 to 5, (no study) 7 points: 1 to 7): if" in table.notes[1]


def test_all_four_tables_are_printed_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    report = run(difference=[0.5], sd=1.0, win_rate=[0.7], items=[40], comparisons_made=[90], out=str(out))
    assert report.text() in capsys.readouterr().out
    assert titles(report) == [
        "Ratings that a difference needs",
        "The smallest difference that so many ratings show",
        "Comparisons that a win rate needs",
        "The smallest win rate that so many comparisons show",
    ]
    assert {path.name for path in out.iterdir()} == {
        *("report.md", "report.html", "report.json", "power_of_ratings.png", "power_of_comparisons.png", "tables"),
    }
    assert len(list((out / "tables").iterdir())) == 4


def test_options_are_passed_to_the_computations() -> None:
    sure = {"power": 0.9, "alpha": 0.01, "tests": 2, "runs": 15, "seed": 3}
    spreads = {"sd": 1.1, "same_reply": 0.3, "same_item": 0.1, "scale": [1.0, 2.0, 3.0, 4.0]}
    report = run(difference=[0.5], items=[40], win_rate=[0.7], comparisons_made=[90], ties=0.2, **spreads, **sure)
    aim, design = Aim(0.9, 0.01, 2, 15, 3), LikertDesign(1.1, same_reply=0.3, same_item=0.1)
    assert report.tables == [
        likert_needed(design, [0.5], [2], Scale((1, 2, 3, 4)), aim)[0],
        likert_seen(design, [40], [2], aim),
        wins_needed([0.7], 0.2, aim)[0],
        wins_seen([90], 0.2, aim),
    ]


def test_defaults_are_used_and_shown_in_signature() -> None:
    report = run(difference=[0.5], sd=1.0)
    assert report.tables[0].rows[0][2] == likert_items(LikertDesign(1.0, 2, 0.26), 0.5)
    assert "|pairing:by item|sd:1|same_reply:0.26|same_item:0|" in report.tables[0].notes[-1]


def test_spread_is_estimated_from_ratings_unless_given(ratings: Path) -> None:
    found = spread([one for one in ratings_of(ratings) if one.question == "empathy"])
    assert found.same_reply is not None
    assert found.same_item is not None
    report = run(difference=[0.5], ratings=str(ratings), question="empathy")
    design = LikertDesign(found.sd, 2, found.same_reply, found.same_item)
    assert report.tables[0].rows[0][2] == likert_items(design, 0.5)
    assert report.tables[0].notes[0].startswith(f"- measured in {ratings}, empathy: standard deviation {found.sd:.3f}")
    # The scale is the values that occur.
    assert f"(1, 2, 3, 4) about a mean of {found.mean:.3g}, " in " ".join(report.tables[0].notes)
    unpaired = run(difference=[0.5], ratings=str(ratings), question="empathy", paired=False)
    apart = LikertDesign(found.sd, 2, found.same_reply, paired=False)
    assert unpaired.tables[0].rows[0][2] == likert_items(apart, 0.5)
    # Options take precedence over measured values.
    given = run(difference=[0.5], ratings=str(ratings), question="empathy", sd=2.0, same_reply=0.5, same_item=0.25)
    assert given.tables[0].rows[0][2] == likert_items(LikertDesign(2.0, 2, 0.5, 0.25), 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {},
            "nothing to compute: name a --difference in points, a --win-rate, or a number of --items or --c",
        ),
        (
            {"difference": [0.5]},
            "--sd: name the standard deviation of single ratings, or --ratings to estimate it from",
        ),
        ({"difference": [float("nan")], "sd": 1.0}, "--difference nan: must be a finite number of points"),
        ({"difference": [0.5, float("inf")], "sd": 1.0}, "--difference inf: must be a finite number of points"),
        (
            {"difference": [0.5], "sd": 1.0, "paired": False, "same_item": 0.2},
            "correlation 0.2 of replies to one item: it must be 0 if items are not paired",
        ),
        ({"win_rate": [0.6], "ratings": "r.csv"}, "--ratings: used only for --difference and --items: name one of"),
        ({"items": [40], "sd": 1.0, "question": "z"}, "--question: chooses one of the questions in --ratings: name"),
        ({"items": [40]}, "--sd: name the standard deviation of single ratings"),
        ({"difference": [0.5], "sd": 0.0}, "standard deviation 0: must be a finite number above 0"),
        ({"difference": [0.5], "sd": float("inf")}, "standard deviation inf: must be a finite number above 0"),
        ({"difference": [0.5], "sd": 1.0, "raters": [0]}, "--raters 0: must be at least 1"),
        ({"items": [1], "sd": 1.0}, "--items 1: must be at least 2"),
        ({"comparisons_made": [0]}, "--comparisons-made 0: must be at least 1"),
        ({"win_rate": [0.6], "ties": 1.0}, "--ties 1: must be at least 0 and below 1, a share of all comparisons"),
        ({"win_rate": [0.6], "alpha": 0.0}, "alpha 0: must lie between 0 and 1"),
        ({"win_rate": [0.6], "power": 0.01}, "power 0.01: must lie between alpha (0.05) and 1"),
        ({"win_rate": [1.6]}, "win rate 1.6: must lie between 0 and 1, ties left out"),
        ({"win_rate": [0.6], "tests": 0}, "--tests 0: must be at least 1"),
        ({"win_rate": [0.6], "runs": 0}, "--runs 0: must be at least 1"),
        ({"difference": [0.5], "sd": 1.0, "same_item": 0.5}, "correlation 0.5 of replies to one item and 0.26 of"),
        ({"difference": [0.5], "sd": 1.0, "scale": [1.0]}, "--scale: name at least two different values"),
    ],
)
def test_invalid_options_raise_one_line_option_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as error:
        run(**options)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_ratings_file_without_usable_spread_raises(ratings: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^--question: name one of 'empathy', 'fluency'$"):
        run(difference=[0.5], ratings=str(ratings))
    with pytest.raises(OptionError, match=r"^--question 'z' was not asked: name one of 'empathy', 'fluency'$"):
        run(difference=[0.5], ratings=str(ratings), question="z")
    path = tmp_path / "few.csv"
    path.write_text("item,rater,text\n1,a,Oh\n")
    with pytest.raises(NotComputableError, match=r"few.csv has no ratings of single replies$"):
        run(difference=[0.5], ratings=str(path))
    path.write_text("item,rater,rating\n1,a,3\n2,a,3\n")
    with pytest.raises(OptionError, match=r"^--question 'z' was not asked: the file names none: leave it out$"):
        run(difference=[0.5], ratings=str(path), question="z")
    with pytest.raises(EmpathyError, match=r"^no standard deviation: all ratings of a system are the same$"):
        run(difference=[0.5], ratings=str(path))
