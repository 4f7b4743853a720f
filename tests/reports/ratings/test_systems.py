"""Tables of means and differences: the numbers are those of the analysis, which has separate tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parlai_empathy.rating.analysis.answers import columns_of
from parlai_empathy.rating.analysis.differences import How, difference
from parlai_empathy.rating.analysis.means import system_mean
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.ratings.systems import by_question_and_system, differences_table, means_tables
from parlai_empathy.reports.table import Table
from parlai_empathy.statistics.paired import holm

HOW = How(resamples=50, seed=3)
VALUES = {"A": [1, 2, 2, 3, 4, 2], "B": [3, 3, 4, 5, 4, 5], "C": [2, 1, 3, 3, 5, 4]}
RATINGS = [
    Rating(str(item), "Ann", question, float(min(5, value + shift)), system)
    for shift, question in enumerate(("empathy", "fluency"))
    for system, values in VALUES.items()
    for item, value in enumerate(values)
    if (system, question) != ("C", "fluency")
]
GROUPS = by_question_and_system(RATINGS)


def rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in table.rows]


def test_ratings_are_grouped_by_question_and_system() -> None:
    assert {question: list(systems) for question, systems in GROUPS.items()} == {
        "empathy": ["A", "B", "C"],
        "fluency": ["A", "B"],
    }


def test_short_means_table_has_one_row_per_system_and_column_per_question() -> None:
    (short, _), _ = means_tables(GROUPS, HOW)
    assert list(short.header) == ["system", "empathy", "fluency"]
    # A: 14 / 6 = 2.33; squares 16/9 + 3 * 1/9 + 4/9 + 25/9 = 48/9 with 5 degrees: 1.0328 / sqrt(6) = .4216.
    assert rows(short)[0][:2] == ["A", "2.33 ± 0.42"]
    assert rows(short)[2][2] == "-"
    assert "- -: not asked of this system" in short.notes
    (of_one, long), _ = means_tables({"empathy": GROUPS["empathy"]}, HOW)
    assert len(of_one.notes) == 1, "all were asked it"
    assert not [note for note in long.notes if note.endswith(": None")], "what is there needs no reason"


def test_long_means_table_matches_system_mean() -> None:
    (_, table), (plot,) = means_tables(GROUPS, HOW)
    assert len(table.rows) == 5
    found = system_mean(columns_of(GROUPS["empathy"]["B"]), HOW.clusters, HOW.resamples, HOW.seed)
    assert rows(table)[1] == ["empathy", "B", 6, 6, 1, found.mean, found.standard_error, found.interval]
    assert table.rows[1][5].signature == found.signature  # type: ignore[union-attr]
    assert isinstance(plot, Intervals)
    assert plot.series["empathy"]["B"] == (found.mean, *(found.interval or ()))
    assert set(plot.series["fluency"]) == {"A", "B"}


def test_differences_are_holm_corrected() -> None:
    found = differences_table(GROUPS, HOW)
    assert found is not None
    table, (plot,) = found
    pairs = [("empathy", "A", "B"), ("empathy", "A", "C"), ("empathy", "B", "C"), ("fluency", "A", "B")]
    direct = [difference(GROUPS[q][a], GROUPS[q][b], HOW) for q, a, b in pairs]
    corrected = holm([one.p_value or 0 for one in direct])
    assert rows(table) == [
        [*pair, one.test, "6", one.value, one.interval, one.effect, one.d, one.p_value, p]
        for pair, one, p in zip(pairs, direct, corrected, strict=True)
    ]
    assert "- p (Holm): corrected for the 4 tests of this table" in table.notes
    assert isinstance(plot, Intervals)
    assert set(plot.series["empathy"]) == {"A - B", "A - C", "B - C"}


def test_permutation_swaps_scale_with_number_of_tests() -> None:
    how = replace(HOW, test="permutation")
    table, _ = differences_table({"empathy": GROUPS["empathy"]}, how) or (Table("", [], []), [])
    direct = [
        difference(GROUPS["empathy"][a], GROUPS["empathy"][b], replace(how, tests=3)) for a, b in ("AB", "AC", "BC")
    ]
    assert [row[9] for row in rows(table)] == [one.p_value for one in direct]
    assert any("|swaps:75|" in note for note in table.notes)  # 25 each


def test_notes_describe_the_intervals() -> None:
    _, means = means_tables(GROUPS, HOW)[0]
    found = differences_table(GROUPS, HOW)
    assert found is not None
    for table in (means, found[0]):
        (note,) = (note for note in table.notes if note.startswith("- interval: "))
        assert note.endswith("percentiles expanded for few, and of fewer than five still too narrow")


def test_not_computable_cells_are_explained_in_notes() -> None:
    ratings = [Rating("1", "Ann", "q", 3.0, system) for system in "AB"]
    ratings += [Rating(str(i), "Ann", "p", 3.0, system) for system in "AB" for i in range(3)]
    table, plots = differences_table(by_question_and_system(ratings), HOW) or (Table("", [], []), [])
    assert rows(table) == [
        ["q", "A", "B", "-", "1 + 1", 0.0, "-", "-", "-", "-", "-"],
        ["p", "A", "B", "-", "3", 0.0, "-", "-", "-", "-", "-"],
    ]
    notes = "\n".join(table.notes)
    assert "q, A and B: no interval: 1 item; at least two are needed" in notes
    assert "p, A and B: no interval: all resamples give 0: values that differ are needed" in notes
    assert "p, A and B: no test: all 3 differences are 0" in notes
    assert "corrected for the 0 tests" in notes
    assert plots == []
    (short, long), _ = means_tables(by_question_and_system(ratings[:1] + ratings[5:]), HOW)
    assert rows(short) == [["A", "3.00 ± -", "-"], ["B", "-", "3.00 ± 0.00"]]
    assert rows(long)[0] == ["q", "A", 1, 1, 1, 3.0, "-", "-"]
    assert "- a single rating has no standard error" in long.notes
    table, plots = differences_table(by_question_and_system(ratings[:2]), HOW) or (Table("", [], []), [])
    assert len(table.rows) == 1
    assert plots == [], "there is no interval to draw"


@pytest.mark.parametrize("ratings", [[], RATINGS[:6]])
def test_fewer_than_two_systems_give_no_differences_table(ratings: list[Rating]) -> None:
    assert differences_table(by_question_and_system(ratings), HOW) is None


def test_unnamed_systems_and_questions_get_placeholders() -> None:
    (short, long), _ = means_tables(by_question_and_system([Rating("1", "Ann", "", 3.0)]), HOW)
    assert list(short.header) == ["system", "(no question)"]
    assert rows(long)[0][:2] == ["(no question)", "(no system)"]
