"""Columns, and how their numbers are found."""

from __future__ import annotations

import pytest

from parlai_empathy import __version__
from parlai_empathy.metrics.names import METRIC_NAMES
from parlai_empathy.reports.leaderboards.ed_columns import (
    COLUMNS,
    COST_COLUMNS,
    EMOTION_COLUMNS,
    REPLY_COLUMNS,
    numbers,
)
from parlai_empathy.reports.leaderboards.ed_figures import PUBLISHED

REPORT = {
    "exs": {"value": 142.0},
    "p_at_1_100_shuffled": {"value": 0.25, "signature": "P@k,100|protocol:shuffled"},
    "avg_bleu": {"value": 5.5, "signature": "AVG BLEU|n:142"},
    "ppl": {"value": 40.0},
    "p_at_1_100_ordered": {"value": float("nan"), "signature": "x"},
    "emotion_accuracy": {"value": 0.375},
    "accuracy": {"value": 0.5},
    "hits@1": {"value": 0.25},
}


def test_column_names_are_unique_and_cover_published_figures() -> None:
    names = [column.name for column in COLUMNS]
    assert len(set(names)) == len(names)
    assert {column.name for column in (*REPLY_COLUMNS, *COST_COLUMNS, *EMOTION_COLUMNS.values())} == set(names)
    assert {name for one in PUBLISHED for name in one.values} <= set(names)


def test_reply_and_classifier_emotion_columns_share_a_title() -> None:
    (own,) = [column for column in REPLY_COLUMNS if column.name == "emotion_context"]
    (classifiers,) = [column for column in EMOTION_COLUMNS.values() if column.name == "emotion_context"]
    assert own.title == classifiers.title


def test_column_keys_are_known_metric_names() -> None:
    ours = {column.key for column in REPLY_COLUMNS if column.name.startswith(("p_at", "avg"))} - {None}
    assert ours <= set(METRIC_NAMES)


def test_reply_model_numbers_and_signatures() -> None:
    found = numbers(REPORT, REPLY_COLUMNS, "test", "empathy:empathetic_dialogues")
    assert found == {"p_at_1_shuffled": 25.0, "avg_bleu": 5.5, "ppl": 40.0, "emotion_context": 37.5}
    assert found["avg_bleu"].signature == "AVG BLEU|task:empathy:empathetic_dialogues|n:142"
    assert found["ppl"].signature == (
        f"ppl|task:empathy:empathetic_dialogues|source:parlai|mean:tokens|n:142|split:test|version:{__version__}"
    )


def test_signatures_of_numbers_on_different_data_differ() -> None:
    ed, dd = (numbers(REPORT, REPLY_COLUMNS, "test", task) for task in ("empathy:reddit", "empathy:daily_dialog"))
    assert ed == dd
    assert not {one.signature for one in ed.values()} & {one.signature for one in dd.values()}


@pytest.mark.parametrize("task", EMOTION_COLUMNS)
def test_classifier_numbers_and_signatures(task: str) -> None:
    column = EMOTION_COLUMNS[task]
    found = numbers(REPORT, [column], "valid", task)
    assert found == {column.name: 50.0}
    assert found[column.name].signature == (
        f"accuracy|task:{task}|source:parlai|mean:examples|n:142|split:valid|version:{__version__}"
    )


def test_shares_are_in_percent_and_other_numbers_are_not() -> None:
    report = {column.key: {"value": 0.5} for column in REPLY_COLUMNS if column.key}
    found = numbers(report, REPLY_COLUMNS, "test", "t")
    shares = {"p_at_1_shuffled", "p_at_1_ordered", "p_at_1_inline", "emotion_context"}
    others = {"avg_bleu", "ppl", "ppl_peers", "dist_1", "dist_2"}
    assert found == dict.fromkeys(shares, 50) | dict.fromkeys(others, 0.5)


def test_report_without_known_metrics_gives_no_numbers() -> None:
    assert numbers({"f1": {"value": 0.1}}, REPLY_COLUMNS, "test", "t") == {}
