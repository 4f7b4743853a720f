"""How many examples an evaluation will have: it has to be known before the first one is ranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname


def evaluated(opt: Opt, message: Mapping[str, Any]) -> int:
    """The examples of the task and fold that a message is from, no more than the evaluation takes.

    An agent is not told what it is evaluated on: within a training its options name the training's task and fold, and
    with several tasks all of them.

    :param opt: the agent's.
    :param message: of a teacher; ParlAI's own say their task under ``id``.
    """
    fold = message.get("fold") or opt["datatype"].split(":")[0]
    tasks = [task for name in ("task", "evaltask") for task in (opt.get(name) or "").split(",")]
    task = message["id"] if message.get("id") in tasks else opt["task"]
    datatype = f"{fold}:evalmode" if fold == "train" else fold
    teachers = create_task_agent_from_taskname(Opt({**opt, "task": task, "datatype": datatype, "batchsize": 1}))
    examples: int = sum(teacher.num_examples() for teacher in teachers)
    return min(examples, _most(opt, fold) or examples)


def _most(opt: Mapping[str, Any], fold: str) -> int:
    """How many examples the options let an evaluation have; 0 for all."""
    if not opt["datatype"].startswith("train") or "evalmode" in opt["datatype"]:
        most = opt.get("num_examples")
    else:
        most = opt.get("validation_max_exs") if fold == "valid" or opt.get("short_final_eval") else 0
    return max(0, most or 0)
