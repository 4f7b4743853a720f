"""The complete report on a file of ratings: its parts, and unusual files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.answers import sort_answers
from parlai_empathy.rating.analysis.differences import How
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.agreement import agreement_report
from parlai_empathy.reports.ratings.metrics import metrics_table
from parlai_empathy.reports.ratings.preferences import strengths_table
from parlai_empathy.reports.ratings.report import Wishes, ratings_report
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table

HOW = How(clusters="both", resamples=20, seed=4)


def study(items: int = 8, raters: int = 3) -> list[Rating]:
    generator = np.random.default_rng(0)
    found = []
    for item in range(items):
        for rater in range(raters):
            for shift, system in enumerate(("A", "B")):
                value = float(generator.integers(1, 4) + shift)
                found.append(Rating(f"i{item}", f"w{rater}", "empathy", value, system))
            found.append(Rating(f"i{item}", f"w{rater}", "better", float(generator.integers(-1, 2)), "B", "A"))
            found.append(Rating(f"i{item}", f"w{rater}", "reply", None, "A", text=f"Number {item}, and what then?"))
    return [*found, *(Rating("c", f"w{rater}", "empathy", 1.0, "check", check=1.0) for rater in range(raters))]


def report_of(ratings: list[Rating], **wishes: Any) -> Report:
    return ratings_report("t", ratings, Wishes(**{"how": HOW, **wishes}))[0]


def tables(report: Report) -> dict[str, Table]:
    return {table.title: table for table in report.tables}


def test_report_contains_all_tables_and_plots() -> None:
    report = report_of(study())
    assert list(tables(report)) == [
        "What was answered",
        "Mean ratings and standard errors",
        "Mean ratings with intervals",
        "Differences between systems",
        "Win, tie, lose",
        "Strengths (Bradley and Terry)",
        "Agreement: empathy",
        "Agreement: better",
        "Raters",
    ]
    assert [list(row) for row in tables(report)["What was answered"].rows] == [
        ["empathy", "rating", 48, 8, 2, 3, 3.0, "1 to 4"],
        ["better", "A or B", 24, 8, 2, 3, 3.0, "-1 to 1"],
        ["reply", "text", 24, 8, 1, 3, 3.0, "-"],
        ["empathy", "check", 3, 1, 1, 3, 3.0, "1 to 1"],
    ]
    assert {plot.name for plot in report.plots} == {
        *("mean_ratings", "differences", "win_tie_lose", "strengths", "agreement_empathy", "agreement_better"),
    }


def test_agreement_tables_match_agreement_report() -> None:
    """An item of two systems is two units of agreement; checks are excluded."""
    ratings = study()
    units = [
        [r.rating or 0 for r in ratings if (r.question, r.item, r.system) == ("empathy", f"i{item}", system)]
        for item in range(8)
        for system in "AB"
    ]
    direct = agreement_report({"empathy": units}, {"empathy": None}, "t", HOW.seed, HOW.resamples).tables[0]
    found = tables(report_of(ratings))["Agreement: empathy"]
    assert [list(row) for row in found.rows] == [list(row) for row in direct.rows]
    assert f"- {direct.title}" in found.notes
    scaled = tables(report_of(ratings, scale=[1, 2, 3, 4, 5]))["Agreement: empathy"]
    assert any("|scale:1..5|" in note for note in scaled.notes)


def test_excluded_raters_are_listed_and_kept_out_of_results() -> None:
    ratings = study(raters=4)
    report = report_of(ratings, excluded={"w1": "asked to be", "nobody": "?"})
    table = tables(report)["Left out"]
    assert [list(row) for row in table.rows] == [["w1", 8 * 4 + 1, "asked to be"]]
    assert "- not in this file: nobody" in table.notes
    without = report_of([one for one in ratings if one.rater != "w1"])
    for title in ("Mean ratings with intervals", "Differences between systems", "Win, tie, lose", "Agreement: empathy"):
        assert tables(report)[title].rows == tables(without)[title].rows
    assert [row[9] for row in tables(report)["Raters"].rows if row[0] == "w1"] == ["yes"]  # still analysed
    others = [row for row in tables(report)["Raters"].rows if row[0] != "w1"]
    assert others == tables(without)["Raters"].rows
    assert "Left out" not in tables(report_of(ratings))


def test_exclude_flagged_excludes_flagged_raters() -> None:
    bad = [
        one if one.rater != "w2" or one.check is None else Rating("c", "w2", "empathy", 5.0, "check", check=1.0)
        for one in study()
    ]
    report, raters = ratings_report("t", bad, Wishes(how=HOW, exclude_flagged=True))
    assert [list(row) for row in tables(report)["Left out"].rows] == [["w2", 33, "1 of 1 checks failed"]]
    assert {one.name for one in raters if one.flags} == {"w2"}
    named = report_of(bad, exclude_flagged=True, excluded={"w2": "my own reason"})
    assert [list(row) for row in tables(named)["Left out"].rows] == [["w2", 33, "my own reason"]]


def test_raters_excluded_in_the_study_are_excluded() -> None:
    ratings = [replace(one, excluded="asked to be" if one.rater == "w1" else "") for one in study()]
    report = report_of(ratings)
    assert [list(row) for row in tables(report)["Left out"].rows] == [["w1", 33, "asked to be"]]
    without = report_of([one for one in ratings if one.rater != "w1"])
    assert [row for row in tables(report)["Raters"].rows if row[0] != "w1"] == tables(without)["Raters"].rows


def test_study_exclusion_reason_takes_precedence_over_flags() -> None:
    ratings = [replace(one, excluded="asked to be" if one.rater == "w1" else "") for one in study()]
    bad = [replace(one, rating=5.0) if one.rater == "w1" and one.check is not None else one for one in ratings]
    report, raters = ratings_report("t", bad, Wishes(how=HOW, exclude_flagged=True))
    assert {one.name for one in raters if one.flags} == {"w1"}
    assert [list(row) for row in tables(report)["Left out"].rows] == [["w1", 33, "asked to be"]]


def test_choices_are_counted_by_number_and_not_averaged() -> None:
    who = [(1.0, "a person"), (2.0, "a machine"), (1.0, "a person"), (1.0, "a person")]
    ratings = [Rating(str(i), "Ann", "who", value, "A", text=text) for i, (value, text) in enumerate(who)]
    report = report_of([*study(), *ratings])
    assert [list(row) for row in tables(report)["Choices"].rows] == [
        ["who", "A", "a person", 3, 0.75],
        ["who", "A", "a machine", 1, 0.25],
    ]
    assert "who" not in tables(report)["Mean ratings and standard errors"].header
    assert ["who", "choice"] in [list(row)[:2] for row in tables(report)["What was answered"].rows]


def test_items_have_one_record_per_rated_reply_or_pair() -> None:
    report = report_of(study(items=2))
    assert len(report.items) == 2 * 2 + 2
    first = [
        one.rating or 0 for one in study(items=2) if (one.item, one.question, one.system) == ("i0", "empathy", "A")
    ]
    assert report.items[0] == {
        **{"question": "empathy", "study": "", "version": "", "item": "i0", "turn": None},
        **{"system": "A", "other": "", "mean": pytest.approx(np.mean(first)), "ratings": 3},
    }
    assert {(one["system"], one["other"]) for one in report.items if one["question"] == "better"} == {("A", "B")}


def test_each_turn_of_a_conversation_has_an_item_of_its_own() -> None:
    ratings = [Rating("chat-1", "Ann", "apt", value, "A", turn=turn) for turn, value in (("2", 4.0), ("4", 1.0))]
    assert [(one["item"], one["turn"], one["mean"]) for one in report_of(ratings).items] == [
        *(("chat-1", 2, 4.0), ("chat-1", 4, 1.0)),
    ]


def test_metric_scores_add_correlation_table() -> None:
    scores = {"length": {(system, f"i{item}"): float(item) for item in range(8) for system in "AB"}}
    table = tables(report_of(study(), scores=scores))["People's ratings and automatic metrics"]
    answers = sort_answers(study())
    direct, _ = metrics_table(
        {"empathy": answers.scores, "better": answers.preferences}, scores, HOW.resamples, HOW.seed
    )
    assert table == direct
    assert [(row[0], row[1], row[2]) for row in table.rows] == [("empathy", "length", 16), ("better", "length", 8)]


def test_strengths_use_the_same_resampling_options() -> None:
    found = tables(report_of(study()))["Strengths (Bradley and Terry)"]
    direct, _ = strengths_table({"better": sort_answers(study()).preferences}, HOW.clusters, HOW.resamples, HOW.seed)
    assert found == direct


def test_question_with_ratings_and_preferences_gets_two_agreement_tables() -> None:
    ratings = [Rating(str(i), r, "q", float(i % 2), "A") for i in range(4) for r in "xy"]
    ratings += [Rating(str(i), r, "q", float(i % 2), "A", "B") for i in range(4) for r in "xy"]
    assert {"Agreement: q", "Agreement: q (A or B)"} <= set(tables(report_of(ratings)))


def test_studies_on_different_scales_are_noted() -> None:
    ratings = [Rating("1", "Ann", "q", value, "A", study=name) for name, value in (("four", 4.0), ("hundred", 80.0))]
    notes = "\n".join(tables(report_of(ratings))["What was answered"].notes)
    assert "q: the studies use different points (four: 4 to 4, hundred: 80 to 80)" in notes
    assert "different points" not in report_of(study()).text()


def test_versions_of_a_study_on_different_scales_are_noted() -> None:
    """Somebody has given the scale more points after the first ratings."""
    ratings = [
        Rating("1", rater, "q", value, "A", study="herons", version=version)
        for rater, value, version in (
            ("Ann", 1.0, "old"),
            ("Bob", 5.0, "old"),
            ("Ann", 1.0, "new"),
            ("Bob", 7.0, "new"),
        )
    ]
    notes = tables(report_of(ratings))["What was answered"].notes
    assert any(
        "q: the studies or their versions use different points (herons old: 1 to 5, herons new: 1 to 7): if" in note
        for note in notes
    )
    same = [replace(one, rating=min(one.rating or 0.0, 5.0)) for one in ratings]
    assert "different points" not in report_of(same).text()


def test_versions_of_a_study_with_different_choices_are_noted() -> None:
    """Somebody has renamed a choice after the first ratings: the shares of both names are of all answers."""
    ratings = [
        Rating("1", rater, "q", place, "A", text=text, study="herons", version=version, kind="choice")
        for rater, place, text, version in (
            ("Ann", 1.0, "warm", "old"),
            ("Bob", 2.0, "cold", "old"),
            ("Ann", 1.0, "kind", "new"),
            ("Bob", 2.0, "cold", "new"),
        )
    ]
    notes = tables(report_of(ratings))["What was answered"].notes
    assert any(
        "q: the studies or their versions use different choices (herons old: cold / warm, herons new: cold / kind): if"
        in note
        for note in notes
    )
    same = [replace(one, text=one.text.replace("kind", "warm")) for one in ratings]
    assert "different choices" not in report_of(same).text()


def rated(values: list[tuple[str, str, float]], **more: Any) -> list[Rating]:
    return [Rating(item, rater, "q", value, **more) for item, rater, value in values]


NINE = range(9)
ODD = {
    "one rating": rated([("1", "a", 3)]),
    "one rater": rated([(str(i), "a", i % 5 + 1) for i in NINE], system="A"),
    "one item": rated([("1", str(i), i % 5 + 1) for i in NINE], system="A"),
    "one item of two systems": [*rated([("1", "a", 3)], system="A"), *rated([("1", "a", 4)], system="B")],
    "constant": [one for system in "AB" for one in rated([(str(i), system, 3) for i in NINE], system=system)],
    "one comparison": rated([("1", "a", 1)], system="A", other="B"),
    "ties alone": rated([(str(i), r, 0) for i in NINE for r in "ab"], system="A", other="B"),
    "one system always wins": rated([(str(i), r, 1) for i in NINE for r in "ab"], system="A", other="B"),
    "apart": [
        one
        for first, second in ("AB", "CD")
        for one in rated([("1", "a", 1), ("2", "a", -1)], system=first, other=second)
    ],
    "texts": [Rating("1", "a", "q", None, text="Oh.")],
    "an empty text": [Rating("1", "a", "q", None, text="")],
    "checks": [Rating("1", "a", "q", 3.0, check=1.0)],
    "many values": rated([(str(i), r, i + len(r) / 7) for i in range(600) for r in ("a", "bb")], system="A"),
    "no names": [Rating(str(i), "a", "", float(i % 2)) for i in NINE],
    "some without a system": [
        *rated([("1", "a", 1), ("2", "a", 2)], system="A"),
        *rated([("1", "a", 3), ("2", "a", 1)]),
    ],
    "strange names": [Rating(str(i), "<b>|", "$x$\n#", float(i % 3), "=A|<i>", study="*") for i in NINE],
}


@pytest.mark.parametrize("clusters", ["item", "rater", "both"])
@pytest.mark.parametrize("name", ODD)
def test_unusual_files_give_numbers_or_notes(name: str, clusters: str) -> None:
    report = report_of(ODD[name], how=How(clusters=clusters, resamples=10))
    for table in report.tables:
        for row in table.rows:
            assert len(row) == len(table.header)
        dashes = [row for row in table.rows if "-" in row]
        assert not dashes or table.notes
    text = json.dumps([table.record() for table in report.tables], allow_nan=False)
    assert "Traceback" not in text
    assert " nan" not in report.text().lower()


def test_unusual_files_can_be_saved(tmp_path: Path) -> None:
    for place, ratings in enumerate(ODD.values()):
        if place % 4 == 0 or ratings is ODD["strange names"]:
            report_of(ratings, how=How(resamples=5)).save(tmp_path / str(place))
            page = (tmp_path / str(place) / "report.html").read_text()
            assert "<b>|" not in page


@pytest.mark.parametrize(("rating", "said"), [(1e300, "1e+300"), (-1e300, "-1e+300")])
def test_implausibly_large_rating_error_names_item_and_rater(rating: float, said: str) -> None:
    message = f"item '7' is rated {said} by 'Ann': beyond any scale: correct it"
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        report_of([*study(), Rating("7", "Ann", "q", rating, "A")])


def test_no_remaining_ratings_raises() -> None:
    with pytest.raises(NotComputableError, match=r"^no ratings: a report needs at least one row$"):
        report_of([])
    message = r"^all 3 raters are left out: no ratings remain$"
    with pytest.raises(NotComputableError, match=message):
        report_of(study(), excluded={f"w{n}": "?" for n in range(3)})
