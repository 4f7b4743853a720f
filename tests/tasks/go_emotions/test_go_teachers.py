"""The teacher, as ParlAI itself loads it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.agent_kit.judging.task_classes import task_classes
from parlai_empathy.errors import DataError
from parlai_empathy.tasks.go_emotions.build import SAMPLE
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS

Load = Callable[..., Any]
Examples = Callable[[Any], list[dict[str, Any]]]

TASK = "empathy:go_emotions"


@pytest.mark.parametrize(("datatype", "fold", "size"), [("train:ordered", "train", 130), ("valid", "valid", 31)])
def test_the_examples_of_the_sample(
    load_teacher: Load, examples_of: Examples, datatype: str, fold: str, size: int
) -> None:
    teacher = load_teacher(TASK, datatype, edition="sample")
    found = examples_of(teacher)
    assert teacher.num_examples() == teacher.num_episodes() == len(found) == size
    assert {example["fold"] for example in found} == {fold}


def test_a_message(load_teacher: Load, examples_of: Examples) -> None:
    found = examples_of(load_teacher(TASK, "valid", edition="sample"))
    (one,) = [example for example in found if len(example["labels"]) == 2 and "desire" in example["labels"]]
    assert one == {
        "id": TASK,
        "text": "Is that real? I want one.",
        "labels": ["curiosity", "desire"],
        "label_candidates": list(EMOTIONS),
        "comment_id": one["comment_id"],
        "fold": "valid",
        "episode_done": True,
    }


def test_judges_find_the_classes(tmp_path: Path) -> None:
    opt = {"task": TASK, "edition": "sample", "datapath": str(tmp_path), "datatype": "train"}
    assert task_classes(opt) == list(EMOTIONS)


def test_streaming_leaves_nothing_beside_the_data(load_teacher: Load) -> None:
    before = sorted(path.name for path in SAMPLE.iterdir())
    assert load_teacher(TASK, "train:stream", edition="sample").num_examples() == 130
    assert sorted(path.name for path in SAMPLE.iterdir()) == before


def test_an_empty_fold(load_teacher: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shutil.copytree(SAMPLE, tmp_path / "mirror" / "goemotions") / "dev.tsv").write_text("")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(DataError, match="its valid fold holds no comment"):
        load_teacher(TASK, "valid")
