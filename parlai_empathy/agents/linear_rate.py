"""How many steps a training will have, for a rate that falls to nothing at its end."""

from __future__ import annotations

import copy
import math

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.utils.distributed import num_workers

from parlai_empathy.errors import OptionError


def steps_of(opt: Opt) -> int:
    """How many steps the training will have: ``--max-train-steps``, or what ``--num-epochs`` come to, if that is less.

    :raises OptionError: if neither is set.
    """
    most = opt.get("max_train_steps") or -1
    epochs = opt.get("num_epochs") or -1
    if epochs <= 0 and most <= 0:
        raise OptionError(
            "--lr-scheduler linear: the rate falls to 0 at the training's end: set --num-epochs or --max-train-steps"
        )
    if epochs <= 0:
        return int(most)
    at_once = opt["batchsize"] * num_workers() * (opt.get("update_freq") or 1)
    steps: int = math.ceil(epochs * _training_examples(opt) / at_once)
    return min(steps, int(most)) if most > 0 else steps


def _training_examples(opt: Opt) -> int:
    opt = copy.deepcopy(opt)
    opt.update(datatype="train:ordered", batchsize=1)
    return int(sum(teacher.num_examples() for teacher in create_task_agent_from_taskname(opt)))
