"""The teacher, as ParlAI itself loads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.tasks.empathetic_intents.reader import INTENTS

Load = Callable[..., Any]

TASK = "empathy:empathetic_intents"


@pytest.mark.parametrize(("datatype", "fold", "size"), [("train:ordered", "train", 36), ("valid", "valid", 18)])
def test_sample_folds_have_expected_sizes(load_teacher: Load, datatype: str, fold: str, size: int) -> None:
    teacher = load_teacher(TASK, datatype, edition="sample")
    found = examples_of(teacher)
    assert teacher.num_examples() == teacher.num_episodes() == len(found) == size
    assert {example["fold"] for example in found} == {fold}


def test_message_fields(load_teacher: Load) -> None:
    last = examples_of(load_teacher(TASK, "test", edition="sample"))[-1]
    assert last == {
        "id": TASK,
        "text": "he works at the bakery.",
        "labels": ["neutral"],
        "label_candidates": list(INTENTS),
        "fold": "test",
        "episode_done": True,
    }
