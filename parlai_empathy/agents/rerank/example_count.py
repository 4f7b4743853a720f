"""The number of examples in an evaluation, which must be known before the first one is ranked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname

from parlai_empathy.metrics.evaluation_batches import evaluation_batchsize, is_of_training


def evaluated(opt: Opt, message: Mapping[str, Any]) -> int:
    """Return the number of examples in a message's task and fold, limited to what the evaluation uses.

    An agent is not told what it is evaluated on: during training its options name the training's task and fold, and
    with several tasks all of them.

    :param opt: the agent's options.
    :param message: from a teacher; ParlAI's own messages name their task under ``id``.
    """
    fold = message.get("fold") or opt["datatype"].split(":")[0]
    tasks = [task for name in ("task", "evaltask") for task in (opt.get(name) or "").split(",")]
    task = message["id"] if message.get("id") in tasks else opt["task"]
    datatype = f"{fold}:evalmode" if fold == "train" else fold
    teachers = create_task_agent_from_taskname(Opt({**opt, "task": task, "datatype": datatype, "batchsize": 1}))
    examples: int = sum(teacher.num_examples() for teacher in teachers)
    return min(examples, _limit(opt, fold) or examples)


def _limit(opt: Mapping[str, Any], fold: str) -> int:
    """Return the maximum number of examples that the options allow, rounded up to whole batches; 0 for all."""
    if is_of_training(opt):
        is_limited = fold == "valid" or opt.get("short_final_eval")
        tasks = (opt.get("evaltask") or opt["task"]).split(",")
        most = (opt.get("validation_max_exs") or 0) / len(tasks) if is_limited else 0
    else:
        most = opt.get("num_examples") or 0
    size = evaluation_batchsize(opt)
    return max(0, math.ceil(most / size) * size)  # the evaluation ends with the batch that reaches the limit
