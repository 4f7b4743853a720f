"""The data report's numbers, counted by hand on a few invented pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.reports.humod_data import PAPERS_SHARES, data_report
from parlai_empathy.reports.plots import Bars
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.tasks.humod.records import Pair

ANN = {"worker id": "w1", "age": "18-24", "time": "9"}
BOB = {"worker id": "w2", "age": "25-34", "time": "9"}
CYD = {"worker id": "w3", "age": "", "time": "9"}


def pair(
    context: Sequence[str],
    reply: str,
    original: bool,
    ratings: Sequence[int] = (),
    human: Sequence[str] = (),
    raters: Sequence[dict[str, str]] = (),
    mean: float | None = None,
) -> Pair:
    mean = sum(ratings) / len(ratings) if ratings else mean
    return Pair("id", tuple(context), reply, original, tuple(ratings), mean, tuple(human), tuple(raters))


PAIRS = [
    pair(["hi"], "hello you", True, (5, 4, 3), ["hey", "oh hi there", ""], (ANN, BOB, CYD)),
    pair(["hi"], "six words that say very little", False, (1, 2, 5), ["hi", "hi", "hi"], (ANN, ANN, BOB)),
    pair(["a b", "c d e"], "f", True, (5, 5, 5), ["g", "h", "i j"], (BOB, BOB, ANN)),
    pair(["a b", "c d e"], "k", False, (1, 1, 2), ["l", "m n o p", "q"], (ANN, BOB, BOB)),
    pair(["k", "l", "m"], "word " * 51, False, (3, 2, 1), ["n", "o", "p"], (ANN, BOB, ANN)),
]


def tables_of(report: Report) -> dict[str, Table]:
    assert len({table.title for table in report.tables}) == len(report.tables)
    return {table.title: table for table in report.tables}


def rows_of(pairs: Sequence[Pair], title: str) -> list[list[Any]]:
    return [list(row) for row in tables_of(data_report(pairs, "t"))[title].rows]


def bars_of(report: Report) -> dict[str, Bars]:
    return {plot.name: plot for plot in report.plots if isinstance(plot, Bars)}


def test_size_table_counts() -> None:
    assert rows_of(PAIRS, "Size") == [
        ["pairs of context and reply", 5],
        ["different contexts", 3],
        ["pairs with an original reply", 2],
        ["pairs with a random reply", 3],
        ["human replies", 14],  # one of 15 is empty
        ["rated pairs", 5],
        ["single ratings", 15],
    ]


def test_turns_are_counted_once_per_dialogue() -> None:
    # The contexts have 1, 2 and 3 turns; the last one counts although it lacks its original reply.
    assert rows_of(PAIRS, "Turns, the reply counted") == [[2, 1], [3, 1], [4, 1]]
    again = [*PAIRS, *PAIRS[:2]]  # the first dialogue occurs twice, with both replies
    assert rows_of(again, "Turns, the reply counted") == [[2, 2], [3, 1], [4, 1]]


def test_length_in_words_statistics() -> None:
    # Original: 2 and 1. Human: 1 3; 1 1 1; 1 1 2; 1 4 1; 1 1 1. Turns of the contexts: 1; 2 3; 1 1 1.
    assert rows_of(PAIRS, "Length in words") == [
        ["original replies", 2, 1.5, 1.5, 2],
        ["human replies", 14, pytest.approx(20 / 14), 1.0, 4],
        ["turns of contexts", 6, 1.5, 1.0, 3],
    ]


def test_empty_turns_are_excluded_from_lengths() -> None:
    rows = rows_of([pair(["", "a b"], "c", True)], "Length in words")
    assert rows[-1] == ["turns of contexts", 1, 2.0, 2.0, 2]


def test_length_histogram_bins_and_shares() -> None:
    lengths = [1, 5, 6, 10, 46, 50, 51, 200]
    pairs = [pair(["hi"], " ".join(["word"] * length), True) for length in lengths]
    plot = bars_of(data_report(pairs, "t"))["lengths"]
    assert (plot.groups[0], plot.groups[1], plot.groups[9], plot.groups[10]) == ("1-5", "6-10", "46-50", "> 50")
    # Two of the eight in each of these four steps.
    assert plot.series["original replies"] == [0.25, 0.25, *[0] * 7, 0.25, 0.25]
    assert plot.series["turns of contexts"] == [1, *[0] * 10]
    assert "human replies" not in plot.series


def test_ratings_of_original_and_random_replies_are_counted() -> None:
    # Original: 5 4 3 and 5 5 5, means 4 and 5. Random: 1 2 5, 1 1 2, 3 2 1, means 8/3, 4/3 and 2.
    table = tables_of(data_report(PAIRS, "t"))["Ratings of original and random replies"]
    assert [list(row) for row in table.rows] == [
        ["original", 0, 0, 1, 1, 4, 4.5],
        ["random", 4, 3, 1, 0, 1, pytest.approx(2.0)],
    ]
    assert table.notes == ["- counted: single ratings"]
    plot = bars_of(data_report(PAIRS, "t"))["ratings"]
    assert plot.series == {"original": [0, 0, 1, 1, 4], "random": [4, 3, 1, 0, 1]}


@pytest.mark.parametrize(
    ("pairs", "counted"),
    [
        ([pair(["a"], "b", True, mean=3.5), pair(["a"], "c", True, mean=3.4)], "rounded mean ratings"),
        (
            [pair(["a"], "b", True, ratings=(4, 3)), pair(["a"], "c", True), pair(["a"], "d", False, mean=2.0)],
            "single ratings, and 1 rounded mean ratings",
        ),
    ],
)
def test_notes_say_which_ratings_were_counted(pairs: list[Pair], counted: str) -> None:
    tables = tables_of(data_report(pairs, "t"))
    assert tables["Ratings of original and random replies"].notes == [f"- counted: {counted}"]
    assert list(tables["Ratings of original and random replies"].rows[0])[1:6] == [0, 0, 1, 1, 0]  # 3.5 is rounded to 4
    assert tables["Beside the paper's figures"].notes == [f"- counted: {counted}; the paper counts single ratings"]


def test_shares_are_listed_beside_published_ones() -> None:
    assert rows_of(PAIRS, "Beside the paper's figures") == [
        ["original: rated 4 or 5", pytest.approx(5 / 6), pytest.approx(0.74456, abs=1e-5)],
        ["random: rated 1 or 2", pytest.approx(7 / 9), pytest.approx(0.73011, abs=1e-5)],
    ]


def test_published_shares_match_paper() -> None:
    # Merdivan et al. 2020, section 3: counts among the 14,250 ratings of each kind of reply.
    assert PAPERS_SHARES == {"original: rated 4 or 5": 10610 / 14250, "random: rated 1 or 2": 10404 / 14250}


def test_ratings_are_grouped_by_rater_demographics() -> None:
    # Ages in order: 18-24 25-34 -, 18-24 18-24 25-34, 25-34 25-34 18-24, 18-24 25-34 25-34, 18-24 25-34 18-24.
    # 18-24 gave 5, 1 2, 5, 1, 3 1 (18 in 7); 25-34 gave 4, 5, 5 5, 1 2, 2 (24 in 7); a rater without an age gave a 3.
    report = data_report(PAIRS, "t")
    table = tables_of(report)["Ratings by the raters' age"]
    assert list(table.header) == ["age", "ratings", "mean rating", "raters"]
    assert [list(row) for row in table.rows] == [
        ["(not told)", 1, 3.0, 1],
        ["18-24", 7, pytest.approx(18 / 7), 1],
        ["25-34", 7, pytest.approx(24 / 7), 1],
    ]
    plot = bars_of(report)["ratings_by_age"]
    assert (list(plot.groups), list(*plot.series.values())) == (["(not told)", "18-24", "25-34"], [1, 7, 7])
    # Everybody took 9 seconds, so there are no groups, which a note says.
    assert "Ratings by the raters' time" not in tables_of(report)
    assert tables_of(report)["Size"].notes == ["- columns without groups of raters to show: time"]


def test_demographic_with_too_many_values_is_not_grouped() -> None:
    raters = [{"age": str(number % 13)} for number in range(26)]
    report = data_report([pair(["a"], "b", True, [3] * 26, ["c"] * 26, raters)], "t")
    assert [title for title in tables_of(report) if title.startswith("Ratings by")] == []
    assert tables_of(report)["Size"].notes == ["- columns without groups of raters to show: age"]


def test_demographics_with_two_to_twelve_values_are_grouped() -> None:
    for count in (2, 12):
        raters = [{"age": f"{number % count:02}"} for number in range(24)]
        pairs = [pair(["a"], "b", True, [number % count % 5 + 1 for number in range(24)], ["c"] * 24, raters)]
        # All raters of a group gave the same rating.
        assert rows_of(pairs, "Ratings by the raters' age") == [
            [f"{group:02}", 24 // count, group % 5 + 1] for group in range(count)
        ]


def test_ratings_without_raters_are_excluded_from_demographics() -> None:
    # As in JSON lines; pairs may have both.
    report = data_report([pair(["a"], "b", True, (1, 2, 3)), PAIRS[0]], "t")
    assert [row[1] for row in tables_of(report)["Ratings by the raters' age"].rows] == [1, 1, 1]
    assert [
        title for title in tables_of(data_report([pair(["a"], "b", True, (1, 2, 3))], "t")) if "raters'" in title
    ] == []


@pytest.mark.parametrize(
    "pairs",
    [
        [pair(["hi"], "hello", True)],
        [pair(["hi"], "hello", False)],
        [pair(["hi"], "hello", False, (1, 1, 1), ["", "", ""])],
    ],
    ids=["unrated", "random only", "no human replies"],
)
def test_missing_ratings_and_replies_leave_empty_cells(pairs: list[Pair], tmp_path: Path) -> None:
    report = data_report(pairs, "t")
    report.save(tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} == {"turns.png", "lengths.png", "ratings.png"}
    shares = tables_of(report)["Beside the paper's figures"]
    assert [row[1] for row in shares.rows] == [None, 1.0 if pairs[0].ratings else None]
    assert report.text().count("nan") == 0


def test_report_is_saved_with_linked_plots(tmp_path: Path) -> None:
    report = data_report(PAIRS, "HUMOD: the data")
    report.save(tmp_path)
    names = {path.stem for path in tmp_path.glob("*.png")}
    assert names == {"turns", "lengths", "ratings", "ratings_by_worker_id", "ratings_by_age"}
    text = (tmp_path / "report.md").read_text()
    assert all(f"({name}.png)" in text for name in names)
