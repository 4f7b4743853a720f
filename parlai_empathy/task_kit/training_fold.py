"""Access to a task's training examples outside ParlAI's training loop."""

from __future__ import annotations

import copy
from typing import Any

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname


def training_teachers(task: str, opt: Opt) -> list[Any]:
    """Return the teachers of a task's training fold. Each yields all examples once, in order, in every process.

    :param opt: the options of an agent; not modified.
    """
    opt = copy.deepcopy(opt)
    # Not train:evalmode, which divides the examples among distributed processes.
    opt.update(task=task, datatype="train:ordered", batchsize=1, interactive_task=False, selfchat_task=False)
    teachers: list[Any] = create_task_agent_from_taskname(opt)
    return teachers
