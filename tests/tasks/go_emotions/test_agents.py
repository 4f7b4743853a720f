"""The teacher, as ParlAI itself loads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.go_emotions.build import SAMPLE
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS

Load = Callable[..., Any]

TASK = "empathy:go_emotions"


@pytest.mark.parametrize(("datatype", "fold", "size"), [("train:ordered", "train", 130), ("valid", "valid", 31)])
def test_sample_size_and_fold(load_teacher: Load, datatype: str, fold: str, size: int) -> None:
    teacher = load_teacher(TASK, datatype, edition="sample")
    found = examples_of(teacher)
    assert teacher.num_examples() == teacher.num_episodes() == len(found) == size
    assert {example["fold"] for example in found} == {fold}


def test_message_fields(load_teacher: Load) -> None:
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


def test_empty_fold_raises_data_error(load_teacher: Load, mirror_of: Callable[[Path, str], Path]) -> None:
    (mirror_of(SAMPLE, "goemotions") / "dev.tsv").write_text("")
    with pytest.raises(DataError, match="its valid fold has no example for DefaultTeacher"):
        load_teacher(TASK, "valid")
