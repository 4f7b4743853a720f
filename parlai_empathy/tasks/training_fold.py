"""A task's training examples, for who looks at them beside the training itself."""

from __future__ import annotations

import copy
from typing import Any

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname


def training_teachers(task: str, opt: Opt) -> list[Any]:
    """The teachers of a task's training fold: each gives its examples once and in order, in every process alike.

    :param opt: the options of an agent; they stay as they are.
    """
    opt = copy.deepcopy(opt)
    # Not train:evalmode, of which several processes would each get only a share.
    opt.update(task=task, datatype="train:ordered", batchsize=1, interactive_task=False, selfchat_task=False)
    teachers: list[Any] = create_task_agent_from_taskname(opt)
    return teachers
