"""The teachers of a training fold, as an agent creates them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt
from teachers import examples_of

from parlai_empathy.tasks.training_fold import training_teachers

TASK = "empathy:empathetic_dialogues:SituationEmotion"


def test_training_teachers_give_ordered_examples_for_any_agent_options(
    tmp_path: Path, load_teacher: Callable[..., Any]
) -> None:
    opt = Opt({"task": "other", "datatype": "test", "batchsize": 8, "interactive_task": True})
    opt.update(datapath=str(tmp_path), edition="sample")
    before = dict(opt)
    (teacher,) = training_teachers(TASK, opt)
    assert examples_of(teacher) == examples_of(load_teacher(TASK, "train:ordered", edition="sample"))
    assert opt == before
