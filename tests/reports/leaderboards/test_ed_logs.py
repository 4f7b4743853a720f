"""The table of other systems' replies."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from parlai_empathy.reports.leaderboards.ed_logs import logs_plot, logs_table, score_logs
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.systems import SystemScores, systems_of
from parlai_empathy.scoring.word_metrics import Words

ONE = LoggedReply("so sorry .", references=("so sorry , dear .",))
EMPTY = LoggedReply("")


def scores(**logs: Sequence[LoggedReply]) -> list[SystemScores]:
    return score_logs([system for name, log in logs.items() for system in systems_of(name, log)], Words("space"))


def test_table_lists_systems_above_published_figures() -> None:
    table = logs_table(scores(a=[ONE, EMPTY], b=[ONE]))
    rows = {row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}
    assert list(rows) == ["a", "b", "MoEL (Zhou et al. 2023)", "CASE (Zhou et al. 2023)"]
    assert (rows["a"]["replies"], rows["a"]["empty"]) == (2, 1)
    assert rows["b"]["Dist-1"] == 100
    assert rows["b"]["words a reply"] == 3
    assert (rows["MoEL (Zhou et al. 2023)"]["Dist-1"], rows["MoEL (Zhou et al. 2023)"]["AVG BLEU"]) == (0.44, None)


def test_plot_shows_avg_bleu_and_dist_2_of_the_table() -> None:
    plot = logs_plot(scores(a=[ONE, EMPTY], b=[ONE]))
    assert plot.rows == ["a", "b", "MoEL (Zhou et al. 2023)", "CASE (Zhou et al. 2023)"]
    table = logs_table(scores(a=[ONE, EMPTY], b=[ONE]))
    for name in ("AVG BLEU", "Dist-2"):
        column = table.header.index(name)
        assert plot.series[name] == {row[0]: row[column] for row in table.rows if row[column] is not None}


def test_replies_without_references_are_plotted_by_dist_2_only() -> None:
    assert list(logs_plot(scores(a=[LoggedReply("so sorry .")])).series) == ["Dist-2"]


def test_log_of_several_systems_gets_one_row_each() -> None:
    replies = [LoggedReply("a b", system="MOE"), LoggedReply("c", system="trs"), LoggedReply("d", system="MOE")]
    table = logs_table(scores(log=replies))
    assert [row[:2] for row in table.rows[:2]] == [["log: MOE", 2], ["log: trs", 1]]


def test_notes_count_missing_references_and_failed_replies() -> None:
    failed = LoggedReply("", no_answer="time-out")
    table = logs_table(scores(a=[ONE, EMPTY, failed]))
    assert "- a: 1 replies without a reference do not count in BLEU" in table.notes
    assert "- a: 1 replies that the system failed to give are left out" in table.notes
    assert any(note.startswith("- Dist-1|level:corpus|case:kept|tokens:space|n:2|") for note in table.notes)
    notes = logs_table(scores(b=[ONE])).notes
    assert not any("without a reference" in note or "failed to give" in note for note in notes), "there are none"
    assert not any("Dist-1 in a reply" in note for note in table.notes), "there is no such column"


def test_notes_explain_empty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    table = logs_table(scores(a=[ONE], b=[EMPTY]))
    assert [note[:24] for note in table.notes if note.startswith("- left out: ")] == [
        "- left out: BLEU-4 needs",
        "- left out: Dist-n: no r",
        "- left out: AVG BLEU: no",
    ]
