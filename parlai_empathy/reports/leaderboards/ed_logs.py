"""Scores of replies that other systems wrote, beside published figures."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.leaderboards.ed_figures import published
from parlai_empathy.reports.plots import RowBars
from parlai_empathy.reports.signature_notes import signature_notes
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.systems import ReplyMetric, System, SystemScores, score_systems
from parlai_empathy.scoring.word_metrics import AvgBleu, CorpusBleu4, Length, Variety, Words

_COLUMNS = {
    "avg_bleu": "AVG BLEU",
    "bleu_4": "BLEU-4 (sacrebleu)",
    "dist_1": "Dist-1",
    "dist_2": "Dist-2",
    "words": "words a reply",
}
_DRAWN = ("avg_bleu", "dist_2")  # similarity to people's replies, and diversity, which is often gained at its expense


def score_logs(systems: Sequence[System], words: Words) -> list[SystemScores]:
    """Score each system with the word metrics of the EmpatheticDialogues papers."""
    metrics: dict[str, ReplyMetric] = {
        "length": Length(words),
        "distinct": Variety(words),
        "bleu": AvgBleu(words),
        "bleu_4": CorpusBleu4(words),
    }
    return score_systems(systems, metrics)


def logs_table(scores: Sequence[SystemScores]) -> Table:
    """Return a table of the systems' numbers, with published figures of the same columns below them."""
    others = published("dist_1", "dist_2")
    rows: list[list[Cell]] = [
        [one.name, len(one.system.replies), one.system.empty, *(one.numbers.get(column) for column in _COLUMNS)]
        for one in scores
    ]
    rows += [[one.name, None, None, *(one.values.get(column) for column in _COLUMNS)] for one in others]
    notes = [
        *signature_notes(
            {one.name: {key: one.numbers[key] for key in _COLUMNS if key in one.numbers} for one in scores}
        ),
        *(
            f"- {one.name}: {left_out:,} replies without a reference do not count in BLEU"
            for one in scores
            if "avg_bleu" in one.scores and (left_out := one.scores["avg_bleu"].left_out)
        ),
        *(
            f"- {one.name}: {one.system.no_answers:,} replies that the system failed to give are left out"
            for one in scores
            if one.system.no_answers
        ),
        *dict.fromkeys(f"- left out: {text}" for one in scores for text in one.missing),
        "- rows that name a paper: that paper's figures, not measured here",
        "- logs are compared as they are: other items, tokenisation or letter case change the numbers",
    ]
    header = ["system", "replies", "empty", *_COLUMNS.values()]
    return Table("Replies that other systems wrote", header, rows, notes, digits=2)


def logs_plot(scores: Sequence[SystemScores]) -> RowBars:
    """Return a plot of similarity to people's replies and of diversity, beside published figures."""
    rows = {one.name: one.numbers for one in scores} | {one.name: one.values for one in published("dist_2")}
    series = {
        _COLUMNS[column]: {name: float(values[column]) for name, values in rows.items() if column in values}
        for column in _DRAWN
    }
    title = "Replies that other systems wrote: likeness to people's, and variety"
    drawn = {name: found for name, found in series.items() if found}
    return RowBars("replies", title, "%   (rows that name a paper: published)", "", list(rows), drawn)
