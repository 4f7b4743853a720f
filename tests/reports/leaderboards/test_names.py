"""The names that options of leaderboards offer, compared with the implementations."""

from __future__ import annotations

import pytest
from parlai.core.loader import load_teacher_module

from parlai_empathy.reports.leaderboards.ed import DATASETS
from parlai_empathy.reports.leaderboards.humod import rated_pairs
from parlai_empathy.reports.leaderboards.names import REFERENCES, REPLY_TASKS
from parlai_empathy.tasks.humod.records import Pair


@pytest.mark.parametrize("task", REPLY_TASKS.values())
def test_reply_tasks_are_tasks_of_this_package(task: str) -> None:
    assert load_teacher_module(task).__module__.startswith(f"parlai_empathy.tasks.{task.removeprefix('empathy:')}.")


def test_reply_tasks_have_leaderboard_titles() -> None:
    assert list(REPLY_TASKS) == list(DATASETS)


def test_reference_names_are_supported() -> None:
    original = Pair("1", ("a",), "b", True, (5,), 5.0, ("c",))
    found = {name: [texts for _, texts in rated_pairs([original], name)] for name in REFERENCES}
    assert found == {"human": [["c"]], "original": [["b"]], "all": [["b", "c"]]}
