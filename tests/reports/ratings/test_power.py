"""Tables of power: the numbers are those of the formulas and simulations, which have separate tests."""

from __future__ import annotations

import math
from typing import Any

import pytest

from parlai_empathy.reports.plots import Curves
from parlai_empathy.reports.ratings import power as ratings_power
from parlai_empathy.reports.ratings.power import Aim, Scale, likert_needed, likert_seen, wins_needed, wins_seen
from parlai_empathy.reports.table import Table
from parlai_empathy.statistics.likert_power import (
    LikertDesign,
    likert_detectable,
    likert_items,
    likert_items_normal,
    likert_power,
)
from parlai_empathy.statistics.sign_test_power import (
    sign_test_comparisons,
    sign_test_detectable,
    sign_test_normal,
    sign_test_power,
)
from parlai_empathy.statistics.simulated_power import (
    simulated_rank_test_power,
    simulated_sign_test_power,
    simulated_t_test_power,
)

DESIGN = LikertDesign(1.1, same_reply=0.3, same_item=0.1)
QUICK = Aim(runs=200)
SURE = Aim(power=0.9, alpha=0.01, comparisons=2, runs=20, seed=3)
EACH = 0.005  # alpha of a single comparison of SURE


def rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in table.rows]


def test_likert_items_for_each_difference_and_rater_count() -> None:
    table, (plot,) = likert_needed(DESIGN, [0.4, 0.6], [1, 3], Scale(), QUICK)
    assert [row[:2] for row in rows(table)] == [[0.4, 1], [0.4, 3], [0.6, 1], [0.6, 3]]
    three = LikertDesign(1.1, 3, 0.3, 0.1)
    items = likert_items(three, 0.4)
    assert rows(table)[1][2:4] == [items, 3 * items]
    assert rows(table)[1][5] == likert_power(three, 0.4, items)
    assert rows(table)[1][6] == pytest.approx(0.8, abs=0.09)  # of 200 trials
    assert 0.5 < rows(table)[1][7] < 0.9
    assert any("sd:1.1|same_reply:0.3|same_item:0.1|alpha:0.05|" in note for note in table.notes)
    assert isinstance(plot, Curves)
    assert set(plot.series) == {
        "0.4 points, 1 rater",
        "0.4 points, 3 raters",
        "0.6 points, 1 rater",
        "0.6 points, 3 raters",
    }
    heights = [height for _, height in plot.series["0.4 points, 1 rater"]]
    assert heights == sorted(heights)
    assert heights[-1] >= 0.95


def test_likert_items_depend_on_aim_and_scale() -> None:
    scale = Scale((1, 2, 3, 4), 2.0)
    table, (plot,) = likert_needed(DESIGN, [0.6], [1], scale, SURE)
    items = likert_items(DESIGN, 0.6, 0.9, EACH)
    assert rows(table) == [
        [
            *(0.6, 1, items, items),
            math.ceil(likert_items_normal(DESIGN, 0.6, 0.9, EACH)),
            likert_power(DESIGN, 0.6, items, EACH),
            simulated_t_test_power(DESIGN, 0.6, items, EACH, 20, 3),
            simulated_rank_test_power(DESIGN, 0.6, items, (1, 2, 3, 4), 2.0, EACH, 20, 3),
        ]
    ]
    # By Noether's normal formula, 2 * (1.1 * (2.807 + 1.2816) / .6)**2 * (1 - .1) = 101.1; Student's t needs some more.
    assert (rows(table)[0][4], items) == (102, 106)
    assert any("|alpha:0.005|runs:20|seed:3|" in note for note in table.notes)
    assert isinstance(plot, Curves)
    last = likert_items(DESIGN, 0.6, 0.95, EACH)
    assert plot.series["0.6 points, 1 rater"][-1] == (last, likert_power(DESIGN, 0.6, last, EACH))


def test_alpha_is_divided_by_number_of_comparisons() -> None:
    aim = Aim(comparisons=3, runs=50)
    table, _ = likert_needed(DESIGN, [0.4], [1], Scale(), aim)
    assert rows(table)[0][2] == likert_items(DESIGN, 0.4, 0.8, 0.05 / 3)
    assert "- power 0.8, two-sided alpha 0.05 divided by 3 comparisons: 0.01667" in table.notes


def test_undetectable_difference_is_noted_and_large_designs_not_simulated() -> None:
    table, plots = likert_needed(DESIGN, [0.0, 0.001], [1], Scale(), QUICK)
    assert rows(table)[0] == [0.0, 1, "-", "-", "-", "-", "-", "-"]
    assert "- 0 points, 1 rater(s): no number of items can detect a difference of 0" in table.notes
    assert rows(table)[1][2:] == ["-"] * 6  # more than a million
    assert plots == []
    large, _ = likert_needed(DESIGN, [0.02], [1], Scale(), QUICK)
    assert rows(large)[0][2] > 20_000
    assert rows(large)[0][6:] == ["-", "-"]
    assert "- no trial of studies of more than 20,000 ratings of each system" in large.notes


def test_simulation_limit_applies_to_ratings_per_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> bool:
        (row,) = rows(likert_needed(DESIGN, [0.8], [2], Scale(), QUICK)[0])
        return row[6:] != ["-", "-"]

    ratings = 2 * likert_items(LikertDesign(1.1, 2, 0.3, 0.1), 0.8)
    monkeypatch.setattr(ratings_power, "_MOST_SIMULATED", ratings)
    assert drawn()
    monkeypatch.setattr(ratings_power, "_MOST_SIMULATED", ratings - 1)
    assert not drawn()


@pytest.mark.filterwarnings("error")
def test_zero_variance_design_gives_a_note_instead_of_items() -> None:
    certain = LikertDesign(1.0, same_reply=1.0, same_item=1.0)
    table, plots = likert_needed(certain, [0.3], [1], Scale(), QUICK)
    assert rows(table) == [[0.3, 1, *["-"] * 6]]
    assert table.notes[0].startswith("- 0.3 points, 1 rater(s): any difference is detected: ")
    assert plots == []


def test_smallest_detectable_difference() -> None:
    table = likert_seen(DESIGN, [50], [1, 2], QUICK)
    two = likert_detectable(LikertDesign(1.1, 2, 0.3, 0.1), 50)
    assert rows(table)[1] == [50, 2, 100, two, two / 1.1]
    certain = likert_seen(LikertDesign(1.0, same_reply=1.0, same_item=1.0), [50], [3], QUICK)
    assert rows(certain) == [[50, 3, 150, "-", "-"]]
    assert certain.notes[0].startswith("- 50 items, 3 rater(s): any difference is detected")


def test_smallest_detectable_difference_depends_on_aim() -> None:
    points = likert_detectable(DESIGN, 50, 0.9, EACH)
    assert rows(likert_seen(DESIGN, [50], [1], SURE)) == [[50, 1, 50, points, points / 1.1]]


def test_comparisons_depend_on_aim() -> None:
    table, (plot,) = wins_needed([0.65], 0.2, SURE)
    decided = sign_test_comparisons(0.65, 0.9, EACH)
    assert rows(table) == [
        [
            *(0.65, decided, math.ceil(decided / 0.8)),
            math.ceil(sign_test_normal(0.65, 0.9, EACH)),
            sign_test_power(0.65, decided, EACH),
            simulated_sign_test_power(0.65, decided, EACH, 20, 3),
        ]
    ]
    assert isinstance(plot, Curves)
    count, power = plot.series["wins 0.65 of decided"][-1]
    assert power == sign_test_power(0.65, int(count), EACH)
    assert rows(wins_seen([100], 0.2, SURE)) == [[100, 80, sign_test_detectable(80, 0.9, EACH)]]


def test_comparisons_for_each_win_rate() -> None:
    table, (plot,) = wins_needed([0.65, 0.5], 0.2, QUICK)
    decided = sign_test_comparisons(0.65)
    assert rows(table)[0][:3] == [0.65, decided, math.ceil(decided / 0.8)]
    assert rows(table)[0][4] == sign_test_power(0.65, decided)
    assert rows(table)[1] == [0.5, "-", "-", "-", "-", "-"]
    assert table.notes[0] == "- 0.5: no number of comparisons can detect a share of 0.5: neither side is preferred"
    assert isinstance(plot, Curves)
    assert list(plot.series) == ["wins 0.65 of decided"]
    assert wins_needed([0.5], 0.0, QUICK)[1] == []


def test_any_number_of_comparisons_is_simulated() -> None:
    table, _ = wins_needed([0.509], 0.0, QUICK)
    decided = sign_test_comparisons(0.509)
    assert decided > 20_000  # (1.4 / 0.009)**2 = 24,198 by the normal distribution
    assert rows(table)[0][-1] == simulated_sign_test_power(0.509, decided, runs=200)
    assert not any("no trial" in note or "20,000" in note for note in table.notes)


def test_whole_number_of_comparisons_with_ties_is_not_rounded_up() -> None:
    """In floats, 42 / (1 - .3) is a little above 60."""
    table, _ = wins_needed([0.72], 0.3, QUICK)
    assert rows(table)[0][1:3] == [42, 60]


def test_smallest_detectable_win_rate() -> None:
    table = wins_seen([100, 4], 0.2, QUICK)
    assert rows(table) == [[100, 80, sign_test_detectable(80)], [4, 3, "-"]]
    assert table.notes[0] == "- 4 comparisons: 3 decided comparisons can detect nothing at alpha 0.05: more are needed"


def test_scale_middle_defaults_to_midpoint() -> None:
    assert Scale((1, 2, 3, 4)).middle == 2.5
    assert Scale((1, 2, 3, 4), 3.2).middle == 3.2
