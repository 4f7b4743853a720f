"""The leaderboard of engagingness: numbers compared with SciPy's, for a few invented replies and made-up judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy import stats

from parlai_empathy.errors import NotComputableError
from parlai_empathy.reports.leaderboards.endex import AGGREGATE, JudgeScores, judge_scores, leaderboard
from parlai_empathy.reports.leaderboards.endex_figures import FIGURES, TITLES
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.judge import Texts
from parlai_empathy.signature import Number
from parlai_empathy.statistics.correlation import correlation
from parlai_empathy.tasks.engagement.records import RatedReply
from parlai_empathy.tasks.engagement.sets import SETS

FED = [
    RatedReply(f"f{n}", ("hello",), f"reply {n}", ratings, "a") for n, ratings in enumerate([(0.0, 1.0), (2.0,)] * 3)
]
GRADE = [RatedReply(f"g{n}", (), f"other {n}", (float(n % 4),)) for n in range(7)]
TWO = {"fed": FED, "grade": GRADE}
GOOD = {"fed": [0.1, 0.8, 0.3, 0.9, 0.4, 0.7], "grade": [0.0, 1.0, 2.0, 2.5, 1.0, 0.5, 2.0]}
BAD = {"fed": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], "grade": [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]}
FLAT = {"fed": [1.0] * 6, "grade": [1.0] * 7}


def scored(name: str, *runs: Any, learnt: str | None = None) -> JudgeScores:
    return JudgeScores(name, runs, [f"{name} #{n}|by:hand" for n in range(len(runs))], learnt)


def board(*judges: JudgeScores, sets: Any = TWO, **options: Any) -> Report:
    return leaderboard(judges, sets, **{"resamples": 30, "seed": 2, **options})


def table_of(report: Report, title: str) -> Table:
    (found,) = [table for table in report.tables if title in table.title]
    return found


def scipys(kind: str, scores: Sequence[float], replies: Sequence[RatedReply]) -> float:
    theirs = stats.pearsonr if kind == "pearson" else stats.spearmanr
    return float(theirs(scores, [fmean(one.ratings) for one in replies]).statistic)


# --- Table 2 ---------------------------------------------------------------------------------------------------------


def test_judge_rows_match_scipy_and_precede_published_rows() -> None:
    table = table_of(board(scored("good", GOOD), scored("bad", BAD)), "mean rating (Table 2)")
    assert table.header == ["judge", "runs", "FED Pearson", "FED Spearman", "GRADE Pearson", "GRADE Spearman"]
    rows = {row[0]: list(row[1:]) for row in table.rows}
    for name, scores in (("good", GOOD), ("bad", BAD)):
        expected = [scipys(kind, scores[each], TWO[each]) for each in TWO for kind in ("pearson", "spearman")]
        assert rows[name] == [1, *map(pytest.approx, expected)]
    assert rows["EnDex, mean of ten (Xu et al. 2022)"] == [None, 0.229, 0.214, 0.308, 0.282]
    assert rows["question (Xu et al. 2022)"] == [None, 0.320, 0.320, None, None]
    assert list(rows)[:2] == ["good", "bad"]
    assert not any("of several runs" in note for note in table.notes)


def test_correlations_of_several_runs_are_averaged() -> None:
    table = table_of(board(scored("two", GOOD, BAD), scored("one", GOOD)), "mean rating (Table 2)")
    cell = table.rows[0][2]
    assert isinstance(cell, Number)
    assert cell == pytest.approx(fmean(scipys("pearson", run["fed"], FED) for run in (GOOD, BAD)))
    assert cell.signature.startswith("pearson|set:fed|n:6|runs:2|interval:95%|resamples:30|seed:2|version:")
    assert table.rows[0][1] == 2
    assert "- of several runs: the mean of their correlations" in table.notes


def test_notes_list_signatures_and_omissions() -> None:
    table = table_of(board(scored("good", GOOD, GOOD), left_out=["red_test: it is nowhere"]), "mean rating (Table 2)")
    assert table.notes[:2] == ["- good #0|by:hand", "- good #1|by:hand"]
    assert [note.split("|version")[0] for note in table.notes[2:4]] == [
        f"- {kind}|interval:95%|resamples:30|seed:2" for kind in ("pearson", "spearman")
    ]
    assert "- left out: red_test: it is nowhere" in table.notes


def test_runs_with_one_signature_share_a_note() -> None:
    judge = JudgeScores("words", (GOOD, BAD), ["words|by:hand"] * 2)
    table = table_of(board(judge), "mean rating (Table 2)")
    assert table.notes.count("- words|by:hand") == 1


def test_published_rows_are_limited_to_given_sets() -> None:
    table = table_of(board(scored("good", {"grade": GOOD["grade"]}), sets={"grade": GRADE}), "mean rating (Table 2)")
    assert [row[0] for row in table.rows] == ["good", "EnDex, mean of ten (Xu et al. 2022)"]


def test_published_figures_match_paper_and_known_sets() -> None:
    assert tuple(TITLES) == SETS
    assert all(set(figures) <= set(SETS) for figures in FIGURES.values())
    # Xu et al. 2022, Table 2
    assert FIGURES["EnDex, mean of ten"]["predeng_600"] == (0.597, 0.577)
    assert FIGURES["specificity"]["fed"] == (0.254, 0.254)


# --- intervals, runs, ablation ---------------------------------------------------------------------------------------


def test_intervals_match_single_correlation() -> None:
    table = table_of(board(scored("good", GOOD), scored("bad", BAD)), "with intervals")
    assert [tuple(row[:3]) for row in table.rows] == [
        ("FED", 6, "good"),
        ("FED", 6, "bad"),
        ("GRADE", 7, "good"),
        ("GRADE", 7, "bad"),
    ]
    alone = correlation("spearman", BAD["grade"], [one.human for one in GRADE], resamples=30, seed=2)
    assert table.rows[3][5:7] == [pytest.approx(alone.value), (pytest.approx(alone.low), pytest.approx(alone.high))]


def test_runs_table_shows_mean_best_and_standard_deviation() -> None:
    table = table_of(board(scored("two", GOOD, BAD), scored("one", GOOD)), "Several trainings")
    values = [scipys("pearson", run["grade"], GRADE) for run in (GOOD, BAD)]
    assert [row[:3] for row in table.rows] == [["two", "FED", 2], ["two", "GRADE", 2]]
    assert table.rows[1][3:6] == [
        pytest.approx(fmean(values)),
        pytest.approx(max(values)),
        pytest.approx(stdev(values)),
    ]
    assert len(board(scored("one", GOOD)).tables) == 2, "nothing to say where there is one training of each"


def test_ablation_covers_only_judges_trained_on_red() -> None:
    report = board(
        scored("rule", GOOD), scored("endex", GOOD, learnt=AGGREGATE), scored("votes", BAD, GOOD, learnt="BE")
    )
    table = table_of(report, "Figure 2")
    assert [row[:2] for row in table.rows] == [[AGGREGATE, "endex"], ["BE", "votes"]]
    assert table.rows[1][2] == pytest.approx(fmean(scipys("pearson", run["fed"], FED) for run in (BAD, GOOD)))
    assert [plot.name for plot in report.plots] == [
        *("correlations_pearson", "correlations_spearman"),
        *("ablation_pearson", "ablation_spearman"),
    ]
    without = board(scored("endex", GOOD, learnt=AGGREGATE))
    assert not any("Figure 2" in table.title for table in without.tables)
    assert len(without.plots) == 2


# --- what cannot be computed -----------------------------------------------------------------------------------------


def test_constant_scores_are_not_computable_and_noted() -> None:
    report = board(scored("flat", FLAT), scored("good", GOOD))
    table = table_of(report, "mean rating (Table 2)")
    assert list(table.rows[0]) == ["flat", 1, *["not computable"] * 4]
    assert "- flat, FED: no correlation: all 6 scores are 1" in table.notes
    assert list(table_of(report, "with intervals").rows[0][3:]) == ["not computable", None] * 2
    assert "nan" not in report.text().lower()


def test_run_without_correlation_is_excluded_from_mean_and_noted() -> None:
    report = board(scored("two", GOOD, FLAT))
    table = table_of(report, "mean rating (Table 2)")
    assert table.rows[0][2] == pytest.approx(scipys("pearson", GOOD["fed"], FED))
    assert "- two #2, FED: no correlation: all 6 scores are 1" in table.notes
    assert [row[2:6:3] for row in table_of(report, "Several trainings").rows] == [[1, None]] * 2


def test_too_small_set_is_not_computable_and_noted() -> None:
    small = {"fed": FED, "grade": GRADE[:2]}
    report = board(scored("good", {"fed": GOOD["fed"], "grade": [1.0, 2.0]}), sets=small)
    table = table_of(report, "mean rating (Table 2)")
    assert table.rows[0][4:] == ["not computable", "not computable"]
    assert "- good, GRADE: no correlation for 2 items: at least 3 are needed" in table.notes


def test_missing_interval_is_noted() -> None:
    # A sample of three items needs both the second and the third: 12 of 27 samples have them.
    scores = {"fed": [1.0, 1.0, 2.0], "grade": GOOD["grade"]}
    report = board(scored("coarse", scores), sets={"fed": FED[:3], "grade": GRADE}, resamples=300)
    notes = [note for note in table_of(report, "mean rating (Table 2)").notes if note.startswith("- coarse, FED: ")]
    assert notes
    assert all("no interval: only " in note and " of 300 resamples could be used" in note for note in notes)


def test_runs_without_correlation_are_noted_once_and_not_counted() -> None:
    report = board(scored("two", {**FLAT, "grade": GOOD["grade"]}, {**FLAT, "grade": BAD["grade"]}))
    reasons = [note for note in table_of(report, "mean rating (Table 2)").notes if ", FED: " in note]
    assert reasons == [f"- two #{run}, FED: no correlation: all 6 scores are 1" for run in (1, 2)]
    assert [row[1:3] for row in table_of(report, "Several trainings").rows] == [["FED", 0], ["GRADE", 2]]


def test_no_computable_correlation_raises() -> None:
    message = r"^nothing can be correlated: flat, FED: no correlation: all 6 scores are 1$"
    with pytest.raises(NotComputableError, match=message):
        board(scored("flat", FLAT))


# --- scores, items, plots --------------------------------------------------------------------------------------------


class Fixed:
    """A judge that returns positions as scores, and records its calls."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.signature = f"{name}|by:hand"
        self.asked: list[tuple[Texts, Sequence[str]]] = []

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        self.asked.append((contexts, replies))
        return np.arange(len(replies), dtype=np.float64)


def test_each_run_scores_all_sets_before_the_next_judge_is_created() -> None:
    made: list[Fixed] = []

    def judges() -> Any:
        for number in (1, 2):
            assert all(len(judge.asked) == 2 for judge in made), "the one before has done its work"
            made.append(Fixed(f"run {number}"))
            yield made[-1]

    found = judge_scores("endex", judges(), TWO, "EE")
    assert (found.name, found.learnt, list(found.signatures)) == ("endex", "EE", ["run 1|by:hand", "run 2|by:hand"])
    assert [dict(run) for run in found.runs] == [{"fed": [0, 1, 2, 3, 4, 5], "grade": [0, 1, 2, 3, 4, 5, 6]}] * 2
    contexts, replies = made[0].asked[0]
    assert (list(contexts), list(replies)) == ([("hello",)] * 6, [one.reply for one in FED])


def test_items_hold_ratings_and_scores_without_text() -> None:
    items = board(scored("two", GOOD, BAD), scored("one", {**GOOD, "fed": [math.inf, *GOOD["fed"][1:]]})).items
    assert len(items) == 13
    assert items[0] == {
        "set": "fed",
        "item": "f0",
        "system": "a",
        "rating_mean": 0.5,
        "ratings": [0.0, 1.0],
        "scores": {"two #1": 0.1, "two #2": 6.0, "one": None},
    }
    assert items[6]["set"] == "grade"


def test_plots_have_one_row_per_judge_and_are_saved(tmp_path: Path) -> None:
    report = board(scored("flat", FLAT), scored("good", GOOD, learnt="EE"))
    intervals: Any = report.plots[0]
    assert list(intervals.rows) == ["flat", "good"]
    assert set(intervals.series) == {"FED", "GRADE"}
    assert list(intervals.series["FED"]) == ["good"]
    assert intervals.series["FED"]["good"][0] == pytest.approx(scipys("pearson", GOOD["fed"], FED))
    report.save(tmp_path)
    for plot in report.plots:
        with Image.open(tmp_path / f"{plot.name}.png") as image:
            assert image.format == "PNG"


def test_ablation_plot_has_only_judges_trained_on_red() -> None:
    report = board(scored("flat", FLAT, learnt="AE"), scored("good", GOOD, BAD, learnt="EE"), scored("other", BAD))
    plots = {plot.name: plot for plot in report.plots}
    for kind in ("pearson", "spearman"):
        bars: Any = plots[f"ablation_{kind}"]
        assert bars.rows == ["AE: flat", "EE: good"]
        for name in ("fed", "grade"):
            mean = fmean(scipys(kind, run[name], TWO[name]) for run in (GOOD, BAD))
            assert bars.series[TITLES[name]] == {"EE: good": pytest.approx(mean)}


def test_title_mentions_the_data() -> None:
    assert board(scored("good", GOOD)).title == "Engagingness judged by people, and by judges"
    assert board(scored("good", GOOD), about="sample").title.endswith(" (sample)")
