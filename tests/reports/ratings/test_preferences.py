"""Tables of wins and of strengths."""

from __future__ import annotations

import math
from typing import Any

import pytest

from parlai_empathy.rating.analysis.preferences import strengths
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.plots import Intervals, RowBars
from parlai_empathy.reports.ratings.preferences import by_question, strengths_table, wins_table
from parlai_empathy.reports.table import Table
from parlai_empathy.statistics.paired import holm
from parlai_empathy.statistics.win_rates import win_rate


def compared(question: str, first: str, second: str, items: list[list[int]]) -> list[Rating]:
    return [
        Rating(str(item), f"r{n}", question, float(value), first, second)
        for item, values in enumerate(items)
        for n, value in enumerate(values)
    ]


SAID = [
    *compared("better", "A", "B", [[1, 1, -1], [1, 0, 1], [0, 0, 0], [1, 1, 1], [-1, -1, 1]]),
    *compared("better", "B", "C", [[1, 0], [-1, -1], [1, -1]]),
    *compared("kinder", "A", "B", [[0, 0], [0]]),
]
GROUPS = by_question(SAID)


def rows(table: Table) -> list[list[Any]]:
    return [list(row) for row in table.rows]


def test_win_rates_by_item() -> None:
    table, (bars,) = wins_table(GROUPS, "item")
    # A and B: 8 wins, 4 ties and 3 losses of 15 ratings; items: A, A, none, A, B. B and C: 2, 1, 3 of 6; B, C, none.
    first, second = win_rate(3, 1, 1), win_rate(1, 1, 1)
    p = holm([first.p_value, second.p_value])
    assert rows(table) == [
        [
            "better",
            "A",
            "B",
            15,
            8 / 15,
            4 / 15,
            3 / 15,
            "3 / 1 / 1",
            0.75,
            (first.low, first.high),
            first.p_value,
            p[0],
        ],
        ["better", "B", "C", 6, 2 / 6, 1 / 6, 3 / 6, "1 / 1 / 1", 0.5, (second.low, second.high), second.p_value, p[1]],
        ["kinder", "A", "B", 3, 0, 1, 0, "0 / 2 / 0", "-", "-", "-", "-"],
    ]
    assert "- kinder, A and B: no win rate: all 2 comparisons are ties" in table.notes
    assert any("|ties:left out|unit:item|" in note for note in table.notes)
    assert isinstance(bars, RowBars)
    assert bars.series["tie"]["A : B (kinder)"] == 1.0
    assert bars.series["the first wins"]["A : B (better)"] == 8 / 15


def test_win_rates_by_rating() -> None:
    table, _ = wins_table({"better": GROUPS["better"]}, "rating")
    assert [row[7:9] for row in rows(table)] == [["8 / 4 / 3", 8 / 11], ["2 / 1 / 3", 2 / 5]]


def test_side_preference_is_noted() -> None:
    def note(said: list[tuple[int, str]]) -> list[str]:
        ratings = [Rating(str(i), "r", "q", float(value), "A", "B", side=side) for i, (value, side) in enumerate(said)]
        table, _ = wins_table({"q": ratings}, "item")
        return [one for one in table.notes if one.startswith("- sides:")]

    # A on the left won once, B on the left twice; on the right A won once.
    assert note([(1, "left"), (-1, "right"), (-1, "right"), (1, "right"), (0, "left")]) == [
        "- sides: the left one was preferred in 3 of 4 decided pages (exact test of one half: p = 0.625)"
    ]
    assert note([(1, "left")] * 20)[0].endswith("p < 0.001)")
    assert note([(1, ""), (0, "left")]) == []


def test_questions_of_a_page_choose_a_side_once() -> None:
    pages = {"1": (1, 1, 1), "2": (-1, -1, 1), "3": (1, 0, -1)}  # for the left one, the right one, and neither
    several = [
        Rating(item, "r", question, float(value), "A", "B", side="left")
        for item, said in pages.items()
        for question, value in zip("pqr", said, strict=True)
    ]
    table, _ = wins_table(by_question(several), "item")
    assert "the left one was preferred in 1 of 2 decided pages" in "".join(table.notes)


def test_strengths_match_hand_computed_bradley_terry() -> None:
    table, (plot,) = strengths_table({"better": GROUPS["better"]}, "both", 60, 3)
    # A to B 10:5, B to C 2.5:3.5.
    a_b, b_c = math.log(2), math.log(2.5 / 3.5)
    expected = {"A": (2 * a_b + b_c) / 3, "B": (b_c - a_b) / 3, "C": -(a_b + 2 * b_c) / 3}
    assert {row[1]: row[2] for row in rows(table)} == pytest.approx(expected)
    direct = strengths(GROUPS["better"], "both", 60, 3).values
    assert {row[1]: (row[2], row[3]) for row in rows(table)} == direct
    assert [row[1] for row in rows(table)] == sorted(expected, key=lambda name: -expected[name])
    assert rows(table)[0][4] == pytest.approx(1 / (1 + math.exp(-max(expected.values()))))
    assert isinstance(plot, Intervals)
    assert plot.series["better"] == {system: (value, *(interval or ())) for system, (value, interval) in direct.items()}
    assert all(low < high for _, low, high in plot.series["better"].values())


def test_strength_without_interval_for_single_item() -> None:
    """With one item all resamples are equal, so they give no interval of the strength."""
    table, (plot,) = strengths_table({"better": compared("better", "A", "B", [[1, 1, -1]])}, "item", 40, 0)
    # A to B 2:1; the strengths' mean is 0.
    assert [row[1:4] for row in rows(table)] == [
        ["A", pytest.approx(math.log(2) / 2), "-"],
        ["B", pytest.approx(-math.log(2) / 2), "-"],
    ]
    assert isinstance(plot, Intervals)
    value = rows(table)[0][2]
    assert plot.series["better"]["A"] == (value, value, value)
    assert table.notes[0].startswith("- better: no interval")


def test_infinite_strengths_are_dashes_with_a_note() -> None:
    never = by_question(compared("better", "A", "B", [[1], [1]]) + compared("kinder", "A", "B", [[1], [-1]]))
    table, plots = strengths_table(never, "item", 40, 0)
    assert rows(table)[:2] == [["better", "A", "-", "-", "-"], ["better", "B", "-", "-", "-"]]
    assert rows(table)[2][2] == 0.0
    assert table.notes[0].startswith("- better: no Bradley-Terry strengths: A never lost or tied against the others")
    assert len(plots) == 1
    assert strengths_table({"better": never["better"]}, "item", 40, 0)[1] == []
    assert "inf" not in table.text().replace("infinite", "")
