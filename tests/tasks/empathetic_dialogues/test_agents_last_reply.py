"""The teacher of Lee et al.'s test prompts: one item per conversation. test_agents.py describes the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

Load = Callable[..., Any]

TASK = "empathy:empathetic_dialogues"


def test_example_is_last_reply_with_full_context(load: Load, ed_mirror: Path) -> None:
    found = examples_of(load(f"{TASK}:LastReply", "test"))
    # Conversations of 4, 2 and 6 turns: the last reply is the last turn.
    assert [(item["turn"], len(item["text"].split("\n"))) for item in found] == [(4, 3), (2, 1), (6, 5)]
    every = {(item["conv_id"], item["turn"]): item for item in examples_of(load(TASK, "test", ed_history=-1))}
    for item in found:
        assert item == {**every[item["conv_id"], item["turn"]], "id": f"{TASK}:LastReply"}
        assert {"emotion", "situation", "conv_id"} <= set(item)


def test_trailing_speaker_turn_is_left_out(load: Load, ed_mirror: Path) -> None:
    # train: 4, 3, 4, 2 and 5 turns
    assert [item["turn"] for item in examples_of(load(f"{TASK}:LastReply", "train"))] == [4, 2, 4, 2, 4]


@pytest.mark.parametrize(("task", "options"), [("LastReply", {"ed_history": 1}), ("LastReply:ed_history=1", {})])
def test_history_of_one_keeps_only_the_previous_turn(
    load: Load, ed_mirror: Path, task: str, options: dict[str, int]
) -> None:
    found = examples_of(load(f"{TASK}:{task}", "test", **options))
    whole = examples_of(load(f"{TASK}:LastReply", "test"))
    assert [item["text"] for item in found] == [item["text"].split("\n")[-1] for item in whole]


@pytest.mark.parametrize("tasks", [[TASK, f"{TASK}:LastReply"], [f"{TASK}:LastReply", TASK]])
def test_teachers_of_a_union_keep_their_own_history(load: Load, ed_mirror: Path, tasks: list[str]) -> None:
    both = load(",".join(tasks), "test").tasks
    assert [examples_of(teacher) for teacher in both] == [examples_of(load(task, "test")) for task in tasks]
    assert {teacher.history_size for teacher in load(",".join(tasks), "test", ed_history=2).tasks} == {2}


def test_default_teacher_history_is_four_turns(load: Load, ed_mirror: Path) -> None:
    assert max(len(item["text"].split("\n")) for item in examples_of(load(TASK, "test"))) == 4


def test_full_test_fold_has_2546_prompts(load: Load, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper has 2,547; the copy that is tested lacks one conversation."""
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    found = examples_of(load(f"{TASK}:LastReply", "test"))
    assert len(found) == len({item["conv_id"] for item in found}) == 2_546
