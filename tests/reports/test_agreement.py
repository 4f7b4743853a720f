"""Tables of agreement: the numbers are those of the metrics, which have separate tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from parlai_empathy.errors import NotComputableError
from parlai_empathy.reports.agreement import HUMOD_KAPPAS, agreement_report
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.statistics.agreement import PAIRINGS, WEIGHTS, agreement, weighted_kappa

SCALE: list[float] = [1, 2, 3, 4, 5]
ITEMS = [[1, 1, 2], [4, 5, 5], [3, 3, 4], [2, 1, 1], [5, 5, 4], [2, 3, 5]]


def report_of(questions: dict[str, Any], scale: list[float] | None = SCALE, **changes: Any) -> Report:
    options = {"title": "t", "seed": 0, "resamples": 40, **changes}
    return agreement_report(questions, dict.fromkeys(questions, scale), **options)


def values(table: Table) -> dict[str, Any]:
    return {str(row[0]): row[1] for row in table.rows}


def test_table_lists_all_measures_with_intervals() -> None:
    (table,) = report_of({"relevance": ITEMS}).tables
    assert table.title == "relevance: 6 items, 18 ratings"
    assert list(table.header) == ["measure", "value", "95 % interval"]
    direct = agreement(ITEMS, SCALE, 0, 40)
    found = {
        **{f"weighted kappa, {w}, the {p} two": direct.kappas[p, w] for w in WEIGHTS for p in PAIRINGS},
        "Fleiss' kappa": direct.fleiss,
        "Krippendorff's alpha, ordinal": direct.alphas["ordinal"],
        "Krippendorff's alpha, interval": direct.alphas["interval"],
    }
    assert [list(row) for row in table.rows] == [[name, one.value, (one.low, one.high)] for name, one in found.items()]
    assert [note for note in table.notes if "|" in note] == [f"- {one.signature}" for one in found.values()]


def test_fleiss_kappa_and_alpha_match_hand_computed_values() -> None:
    (table,) = report_of({"ratings": [[1, 1], [1, 2], [2, 2], [2, 1]]}, scale=[1, 2]).tables
    assert table.title == "ratings: 4 items, 8 ratings"
    # Half of the pairs agree, and each value is half of the ratings: by chance half would agree.
    assert values(table)["Fleiss' kappa"] == pytest.approx(0)
    # No rating is paired with itself: by chance 2 * 4 * 4 / (8 * 7) = 4/7 would disagree; 1 - (1/2) / (4/7) = 1/8.
    assert values(table)["Krippendorff's alpha, interval"] == pytest.approx(1 / 8)


def test_perfect_agreement_is_one_and_can_be_plotted(tmp_path: Path) -> None:
    report = report_of({"q": [[1, 1, 1], [5, 5, 5], [3, 3, 3]]})
    assert set(values(report.tables[0]).values()) == {1.0}
    report.save(tmp_path)
    with Image.open(tmp_path / "agreement_q.png") as image:
        assert (image.format, image.size) == ("PNG", (960, 540))


def test_humod_kappas_match_published_table() -> None:
    # Merdivan et al. 2020, Table 2.
    assert HUMOD_KAPPAS == {"closest": 0.86, "lowest": 0.57, "highest": 0.55, "random": 0.42}


def test_published_figures_get_their_own_column() -> None:
    (table,) = report_of({"relevance": ITEMS}, papers=HUMOD_KAPPAS).tables
    assert list(table.header) == ["measure", "value", "95 % interval", "paper's"]
    theirs = [row[3] for row in table.rows]
    assert theirs == [0.86, 0.57, 0.55, 0.42, 0.86, 0.57, 0.55, 0.42, None, None, None]
    assert "- the paper does not say how it weighted disagreements" in table.notes
    assert "paper" not in report_of({"relevance": ITEMS}).text()


def test_seed_determines_random_pair_kappa() -> None:
    found = {
        values(report_of({"q": ITEMS}, seed=seed).tables[0])["weighted kappa, linear, the random two"]
        for seed in range(5)
    }
    assert len(found) > 1
    again = report_of({"q": ITEMS}, seed=3)
    assert again == report_of({"q": ITEMS}, seed=3)


def test_scale_defaults_to_observed_values() -> None:
    items = [[0, 0], [0, 10], [10, 10], [10, 10], [0, 0]]
    (table,) = report_of({"q": items}, scale=None).tables
    assert values(table) == values(report_of({"q": items}, scale=[0, 10]).tables[0])
    assert "scale:0..10|values:2" in table.notes[0]
    # Each question has its own scale: the second has no 1 and no 5.
    first, second = report_of({"a": [[1, 5], [5, 5], [1, 1]], "b": items}, scale=None).tables
    assert values(second) == values(table)
    assert "scale:1..5|values:2" in first.notes[0]


def test_items_with_fewer_than_two_ratings_are_excluded_and_noted() -> None:
    (table,) = report_of({"q": [*ITEMS, [3], []]}).tables
    assert table.title == "q: 6 items, 18 ratings"
    assert table.notes[0] == "- 2 items with fewer than two ratings are left out"
    assert values(table) == values(report_of({"q": ITEMS}).tables[0])


def test_fleiss_kappa_needs_equally_many_ratings_of_each_item() -> None:
    (table,) = report_of({"q": [[3], *ITEMS, [3, 4]]}).tables
    assert values(table)["Fleiss' kappa"] == "not computable"
    assert any("items have 2 to 3 ratings each: use" in note for note in table.notes)
    assert isinstance(values(table)["Krippendorff's alpha, ordinal"], float)


def test_single_item_has_a_value_without_an_interval() -> None:
    report = report_of({"q": [[1, 2, 3]]})
    assert {row[2] for row in report.tables[0].rows} == {None}
    assert values(report.tables[0])["Fleiss' kappa"] == pytest.approx(-0.5)
    assert any(note.startswith("- no interval: all resamples give the same value") for note in report.tables[0].notes)
    (plot,) = report.plots
    assert isinstance(plot, Intervals)
    assert plot.series == {"q": {name: (value, value, value) for name, value in values(report.tables[0]).items()}}
    assert list(plot.rows) == list(plot.series["q"])


def test_perfect_agreement_is_plotted() -> None:
    (plot,) = report_of({"q": [[1, 1], [3, 3], [5, 5]]}).plots
    assert isinstance(plot, Intervals)
    assert len(plot.rows) == 11
    assert set(plot.series["q"].values()) == {(1.0, 1.0, 1.0)}


def test_not_computable_measures_are_not_plotted(tmp_path: Path) -> None:
    report = report_of({"q": [[3, 3], [3, 3], [3, 3]]})
    assert set(values(report.tables[0]).values()) == {"not computable"}
    assert [note for note in report.tables[0].notes if "all ratings are equal" in note] != []
    (plot,) = report.plots
    assert isinstance(plot, Intervals)
    assert (list(plot.rows), plot.series) == ([], {"q": {}})
    report.save(tmp_path)
    assert (tmp_path / "agreement_q.png").is_file()
    rows = json.loads((tmp_path / "report.json").read_text())["tables"][0]["rows"]
    assert rows[0] == ["weighted kappa, linear, the closest two", "not computable", None]


def test_each_question_gets_a_table_and_a_plot(tmp_path: Path) -> None:
    names = ["How relevant | is it?", "How relevant / is it?", "Empathy\nof the reply"]
    report = report_of(dict.fromkeys(names, ITEMS))
    report.save(tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 3
    titles = [line for line in (tmp_path / "report.md").read_text().split("\n") if line.startswith("## ")]
    assert titles == [f"## {' '.join(name.split())}: 6 items, 18 ratings" for name in names]


def test_question_without_paired_ratings_does_not_affect_others() -> None:
    report = report_of({"alone": [[1], [2]], "q": ITEMS})
    assert [(len(table.rows), table.title) for table in report.tables] == [(0, "alone"), (11, "q: 6 items, 18 ratings")]
    assert report.tables[0].notes == ["- no agreement: none of 2 items has two ratings"]
    assert len(report.plots) == 1


def test_no_paired_ratings_raises() -> None:
    with pytest.raises(NotComputableError, match=r"^no agreement: no item has two ratings of the same question$"):
        report_of({"a": [[1], [2]], "b": [[3]]})


def test_question_with_a_rating_outside_the_scale_does_not_affect_others() -> None:
    report = report_of({"a": ITEMS, "b": [[7, 1]]})
    assert report.tables[0] == report_of({"a": ITEMS}).tables[0]
    assert "has the rating 7, which is not on the scale: 1, 2, 3, 4, 5" in report.tables[1].notes[0]
    with pytest.raises(NotComputableError, match=r"^b: item 0 \(the first is 0\) has the rating 7, which is not on"):
        report_of({"b": [[7, 1]]})


def test_too_many_distinct_ratings_without_scale_raises() -> None:
    items = [[2 * place, 2 * place + 1] for place in range(251)]
    message = r"^q: 502 different ratings are too many for a scale \(at most 500\): round them$"
    with pytest.raises(NotComputableError, match=message):
        report_of({"q": items}, scale=None)
    assert [len(table.rows) for table in report_of({"q": items, "r": ITEMS}, scale=None).tables] == [0, 11]


def test_maximum_number_of_distinct_ratings_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlai_empathy.reports.agreement._MOST_VALUES", 5)
    report_of({"q": ITEMS}, scale=None)  # 1 to 5


def test_closest_pair_kappa_matches_hand_picked_pairs() -> None:
    # Of 1 1 2, 4 5 5, 3 3 4, 2 1 1, 5 5 4 the closest are equal; of 2 3 5 they are 2 and 3, in random order.
    (table,) = report_of({"q": ITEMS}).tables
    possible = {weighted_kappa([1, 5, 3, 1, 5, a], [1, 5, 3, 1, 5, 5 - a], "linear", SCALE) for a in (2, 3)}
    assert values(table)["weighted kappa, linear, the closest two"] in possible
