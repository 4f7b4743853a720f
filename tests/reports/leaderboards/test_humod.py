"""The leaderboard's numbers compared with SciPy's, for a few invented pairs and made-up judges."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.reports.leaderboards.humod import ORACLE, PAPERS_BEST, leaderboard, rated_pairs
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.judge import Texts
from parlai_empathy.scoring.overlap import RougeL, SentenceBleu4
from parlai_empathy.statistics.correlation import correlation
from parlai_empathy.tasks.humod.records import Pair

SCIPY = {"Pearson": stats.pearsonr, "Spearman": stats.spearmanr, "Kendall": stats.kendalltau}


def pair(
    context: str, reply: str, original: bool, mean: float | None, *human: str, ratings: Sequence[int] = ()
) -> Pair:
    """Return a pair; turns are separated by ``/``."""
    kind = "original" if original else "random"
    return Pair(f"{context} {kind}", tuple(context.split("/")), reply, original, tuple(ratings), mean, human)


PAIRS = [
    pair("hello", "hi there", True, 4.5, "hi", "good day"),
    pair("hello", "no trains today", False, 1.5, "hi", "hello you"),
    pair("my dog died", "so sorry", True, 5.0, "oh no", "poor dog"),
    pair("my dog died", "fine thanks", False, 1.0, "how sad"),
    pair("how are you", "fine thanks", True, 4.0, "well and you"),
    pair("how are you", "so sorry", False, 2.0, "not so well"),
    pair("a/b", "c", True, 4.0, "c c"),
    pair("a/b", "d", False, 3.0, "c d"),
    pair("d/e", "f g", True, 3.5, "f"),
    pair("d/e", "h", False, 1.0, "g"),
    pair("unrated", "who knows", True, None, "nobody"),
]
RATINGS = [4.5, 1.5, 5.0, 1.0, 4.0, 2.0, 4.0, 3.0, 3.5, 1.0]
TURNS = [2, 2, 2, 2, 2, 2, 3, 3, 3, 3]


class Fixed:
    """A judge that returns given scores, and records its calls."""

    def __init__(self, name: str, scores: Sequence[float]) -> None:
        self.name = name
        self.signature = f"{name}|by:hand"
        self.scores = scores

    def score(self, contexts: Texts, replies: Sequence[str], references: Texts | None = None) -> NDArray[np.float64]:
        self.asked = contexts, replies, references
        return np.array(self.scores[: len(replies)], dtype=np.float64)


GOOD = Fixed("good", [9, 2, 8, 1, 7, 3, 4, 5, 6, 1.5])
BAD = Fixed("bad", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])


def board(
    *judges: Any, pairs: Sequence[Pair] = PAIRS, references: str = "human", left_out: Sequence[str] = ()
) -> Report:
    return leaderboard(judges, pairs, references, resamples=40, seed=3, about="invented", left_out=left_out)


def rows_of(table: Table) -> dict[tuple[Any, ...], dict[str, tuple[Any, Any, Any]]]:
    """Return, by the text columns of each row, value, interval and p for each kind of correlation."""
    start = len(table.header) - 9
    assert list(table.header[start:]) == [part for kind in SCIPY for part in (kind, "95 % interval", "p")]
    return {
        tuple(row[:start]): {
            kind: (row[start + 3 * n], row[start + 3 * n + 1], row[start + 3 * n + 2]) for n, kind in enumerate(SCIPY)
        }
        for row in table.rows
    }


def assert_scipys(found: dict[str, tuple[Any, Any, Any]], scores: Sequence[float], ratings: Sequence[float]) -> None:
    for kind, (value, interval, p) in found.items():
        theirs = SCIPY[kind](scores, ratings)
        assert value == pytest.approx(theirs.statistic)
        ours = correlation(kind.lower(), scores, ratings, resamples=40, seed=3)
        assert (interval, p) == ((ours.low, ours.high), ours.p_value)
        if "|p:exact|" not in ours.signature:  # for small samples, SciPy's p is only asymptotic
            assert p == pytest.approx(theirs.pvalue)


# --- references ------------------------------------------------------------------------------------------------------


def test_references_option_selects_reference_replies() -> None:
    # A pair's references are those of its context: the distinct replies of the raters of both its pairs.
    human = ["hi", "good day", "hello you"]
    for which, expected in (("human", human), ("original", ["hi there"]), ("all", ["hi there", *human])):
        rated = rated_pairs(PAIRS, which)
        assert [pair for pair, _ in rated] == PAIRS[:10], "in the file's order, without the unrated pair"
        assert rated[0][1] == rated[1][1] == expected


def test_repeated_context_keeps_separate_references() -> None:
    twice = [
        pair("hi", "a", True, 3.0, "1"),
        pair("hi", "b", False, 2.0, "2"),
        pair("hi", "c", True, 4.0, "3"),
        pair("hi", "d", False, 1.0, "4"),
    ]
    assert [texts for _, texts in rated_pairs(twice, "all")] == [
        *(["a", "1", "2"], ["a", "1", "2"], ["c", "3", "4"], ["c", "3", "4"])
    ]


def test_original_reply_scores_full_overlap_with_itself() -> None:
    report = board(SentenceBleu4(), RougeL(), references="original")
    for item, of in zip(report.items, PAIRS, strict=False):
        scores = [item["scores"][name] for name in ("BLEU-4", "ROUGE-L")]
        # No random reply shares a word with the original one.
        assert scores == (pytest.approx([100, 100]) if of.is_original else [0, 0])


def test_unknown_references_option_raises() -> None:
    with pytest.raises(OptionError, match=r"^--references film: must be one of human, original, all$"):
        rated_pairs(PAIRS, "film")


@pytest.mark.parametrize("pairs", [PAIRS[10:], []])
def test_no_rated_pairs_raises(pairs: list[Pair]) -> None:
    message = r"^no pair of this fold is rated: use --humod-split rated, or another file$"
    with pytest.raises(NotComputableError, match=message):
        board(GOOD, pairs=pairs)


def test_pairs_without_references_are_excluded_with_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr("parlai.utils.logging.warning", warnings.append)
    alone = [pair("what", "film left out", False, 2.0, ""), pair("why", "me too", False, 2.5)]
    report = board(GOOD, pairs=[*PAIRS, *alone])
    assert [item["pair_id"] for item in report.items] == [pair.pair_id for pair in PAIRS[:10]]
    assert warnings == ["left out: 2 rated pair(s) without a reference of --references human"]
    assert f"- {warnings[0]}" in report.tables[0].notes
    message = "^no rated pair has a reference of --references original: choose other references$"
    with pytest.raises(NotComputableError, match=message):
        board(GOOD, pairs=alone, references="original")


# --- Table 3 ---------------------------------------------------------------------------------------------------------


def test_judges_receive_contexts_replies_and_references() -> None:
    judge = Fixed("asked", range(10))
    board(judge, references="original")
    contexts, replies, references = judge.asked
    assert list(contexts) == [pair.context for pair in PAIRS[:10]]
    assert list(replies) == [pair.reply for pair in PAIRS[:10]]
    assert references is not None
    assert list(references)[6:8] == [["c"], ["c"]]


def test_correlations_match_scipy() -> None:
    table = board(GOOD, BAD).tables[0]
    found = rows_of(table)
    assert [name for (name,) in found] == ["good", "bad", ORACLE, "paper's best learned scorer"]
    assert_scipys(found["good",], GOOD.scores, RATINGS)
    assert_scipys(found["bad",], BAD.scores, RATINGS)
    assert_scipys(found[ORACLE,], [1, 0] * 5, RATINGS)
    assert found["paper's best learned scorer",] == {
        "Pearson": (PAPERS_BEST, None, None),
        "Spearman": (None, None, None),
        "Kendall": (None, None, None),
    }


def test_published_best_correlation_matches_paper() -> None:
    # Merdivan et al. 2020, Table 3: the best learned scorer.
    assert PAPERS_BEST == 0.602


def test_notes_list_signatures_and_options() -> None:
    notes = board(GOOD, BAD, references="all", left_out=["a judge: it was ill"]).tables[0].notes
    assert notes[:2] == ["- good|by:hand", "- bad|by:hand"]
    assert [note.split("|")[:6] for note in notes[2:5]] == [
        [f"- {kind}", "n:10", f"p:{p}", "interval:95%", "resamples:40", "seed:3"]
        for kind, p in (("pearson", "t"), ("spearman", "t"), ("kendall", "normal"))
    ]
    assert list(notes[5:]) == [
        "- references of word overlap: all",
        "- left out: a judge: it was ill",
        "- the paper's figure is of its own 1,000 test pairs; which these were is not published",
    ]


# --- Table 4 ---------------------------------------------------------------------------------------------------------


def test_correlations_by_turns_match_scipy_on_subset() -> None:
    table = board(GOOD, BAD).tables[1]
    assert table.notes == [], "everything could be computed"
    found = rows_of(table)
    assert list(found) == [(n, 6 if n == 2 else 4, name) for n in (2, 3) for name in ("good", "bad", ORACLE)]
    for n, places in ((2, slice(0, 6)), (3, slice(6, 10))):
        assert TURNS[places] == [n] * len(RATINGS[places])
        for judge in (GOOD, BAD):
            assert_scipys(found[n, len(RATINGS[places]), judge.name], judge.scores[places], RATINGS[places])
        oracle = ([1.0, 0.0] * 5)[places]
        assert_scipys(found[n, len(oracle), ORACLE], oracle, RATINGS[places])


# --- what cannot be computed -----------------------------------------------------------------------------------------


def test_judge_without_correlation_does_not_affect_others() -> None:
    report = board(Fixed("same", [5] * 10), GOOD, Fixed("broken", [math.nan, *range(9)]))
    found = rows_of(report.tables[0])
    nothing = dict.fromkeys(SCIPY, ("not computable", None, None))
    assert found["same",] == found["broken",] == nothing
    assert_scipys(found["good",], GOOD.scores, RATINGS)
    assert "- same: no correlation: all 10 scores are 5" in report.tables[0].notes
    assert "- broken: scores[0] is nan: leave out items without a finite number" in report.tables[0].notes
    assert "- same, 3 turns: no correlation: all 4 scores are 5" in report.tables[1].notes
    assert [row[3] for row in report.tables[1].rows if row[2] == "same"] == ["not computable"] * 2
    for plot in report.plots:
        drawn = {name for series in plot.series.values() for name in series} | {n for n, s in plot.series.items() if s}
        assert "good" in drawn
        assert "same" not in drawn
    assert report.items[0]["scores"] == {"same": 5, "good": 9, "broken": None, ORACLE: 1}
    assert "NaN" not in json.dumps(report.items)


def test_turn_count_with_too_few_pairs_is_not_computable() -> None:
    found = rows_of(board(GOOD, pairs=PAIRS[:8]).tables[1])  # only two pairs have three turns
    assert found[3, 2, "good"]["Pearson"] == ("not computable", None, None)
    assert found[2, 6, "good"]["Pearson"][0] == pytest.approx(stats.pearsonr(GOOD.scores[:6], RATINGS[:6]).statistic)


def test_oracle_is_not_computable_with_original_replies_only() -> None:
    originals = [pair for pair in PAIRS if pair.is_original]
    found = rows_of(board(BAD, pairs=originals).tables[0])
    assert found[ORACLE,]["Pearson"] == ("not computable", None, None)
    assert_scipys(found["bad",], BAD.scores[:5], RATINGS[::2])


def test_too_few_pairs_raise() -> None:
    with pytest.raises(NotComputableError, match=r"^no correlation for 2 items: at least 3 are needed$"):
        board(GOOD, pairs=PAIRS[:2])


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_items_hold_ratings_and_judge_scores() -> None:
    report = board(GOOD, SentenceBleu4())
    rated = rated_pairs(PAIRS, "human")
    bleu = SentenceBleu4().score([[]] * 10, [pair.reply for pair, _ in rated], [texts for _, texts in rated])
    assert report.items == [
        {
            "pair_id": of.pair_id,
            "turns": turns,
            "is_original": of.is_original,
            "rating_mean": of.mean_rating,
            "scores": {"good": good, "BLEU-4": float(score), ORACLE: float(of.is_original)},
        }
        for of, turns, good, score in zip(PAIRS, TURNS, GOOD.scores, bleu, strict=False)
    ]


def test_report_is_saved_with_items_and_plots(tmp_path: Path) -> None:
    report = board(GOOD, BAD)
    report.save(tmp_path)
    assert report.title == "HUMOD: relevance judged by people, and by judges (invented)"
    assert [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()] == report.items
    for name in ("correlations", "correlations_by_turns"):
        with Image.open(tmp_path / f"{name}.png") as image:
            assert (image.format, image.size[0]) == ("PNG", 960)
