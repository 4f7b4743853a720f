"""The teachers of a training fold, as an agent creates them."""

from __future__ import annotations

from pathlib import Path

import parlai.core.teachers
import pytest
from parlai.core.opt import Opt
from teachers import examples_of, load_teacher

from parlai_empathy.task_kit.training_fold import training_teachers

TASK = "empathy:empathetic_dialogues:SituationEmotion"


def test_training_teachers_give_ordered_examples_for_any_agent_options(tmp_path: Path) -> None:
    opt = Opt({"task": "other", "datatype": "test", "batchsize": 8, "interactive_task": True})
    opt.update(datapath=str(tmp_path), edition="sample")
    before = dict(opt)
    (teacher,) = training_teachers(TASK, opt)
    assert examples_of(teacher) == examples_of(load_teacher(tmp_path, TASK, "train:ordered", edition="sample"))
    assert opt == before


def test_each_distributed_process_gets_all_training_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("is_distributed", True), ("num_workers", 2), ("get_rank", 1)):
        monkeypatch.setattr(parlai.core.teachers, name, lambda value=value: value)
    (teacher,) = training_teachers(TASK, Opt({"datapath": str(tmp_path), "edition": "sample"}))
    assert len(examples_of(teacher)) == 288
    divided = load_teacher(tmp_path, TASK, "train:evalmode", edition="sample")
    assert len(examples_of(divided)) == 144
