"""The table of other systems' replies."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.ed_logs import Log, logs_table, score_logs
from parlai_empathy.scoring.logged_reply import LoggedReply
from parlai_empathy.scoring.logs_scores import LogScores

ONE = LoggedReply("so sorry .", references=("so sorry , dear .",))
EMPTY = LoggedReply("")


def scores(*logs: Log) -> list[LogScores]:
    return score_logs(logs, "space", lower_case=False)


def test_systems_beside_published_figures() -> None:
    table = logs_table(scores(Log("a", [ONE, EMPTY]), Log("b", [ONE])))
    rows = {row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}
    assert list(rows) == ["a", "b", "MoEL (Zhou et al. 2023)", "CASE (Zhou et al. 2023)"]
    assert (rows["a"]["replies"], rows["a"]["empty"]) == (2, 1)
    assert rows["b"]["Dist-1"] == 100
    assert rows["b"]["words a reply"] == 3
    assert (rows["MoEL (Zhou et al. 2023)"]["Dist-1"], rows["MoEL (Zhou et al. 2023)"]["AVG BLEU"]) == (0.44, None)


def test_a_log_of_several_systems_has_a_row_for_each() -> None:
    replies = [LoggedReply("a b", system="MOE"), LoggedReply("c", system="trs"), LoggedReply("d", system="MOE")]
    found = scores(Log("log", replies))
    assert [(one.system, one.replies) for one in found] == [("log: MOE", 2), ("log: trs", 1)]


def test_a_log_that_names_some_of_its_systems_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^--logs log: some of its replies name their system, others do not$"):
        scores(Log("log", [LoggedReply("a", system="MOE"), LoggedReply("b")]))


def test_notes_say_what_is_missing() -> None:
    table = logs_table(scores(Log("a", [ONE, EMPTY])))
    assert "- a: 1 replies without a reference say nothing of BLEU" in table.notes
    assert any(note.startswith("- Dist-1|level:corpus|case:kept|tokens:space|n:2|") for note in table.notes)
