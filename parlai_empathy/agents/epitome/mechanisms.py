"""Detects the mechanisms that a task has levels of, so that users need not type them."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.training_fold import training_teachers
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS


def set_mechanisms_of_task(opt: Opt) -> None:
    """Set ``opt["mechanisms"]`` to the training task's mechanisms unless ``--mechanisms`` is given; ParlAI saves them.

    :raises OptionError: if there is no task, or its messages have no levels.
    """
    if opt.get("mechanisms"):
        return
    if not opt.get("task") or opt.get("interactive_mode"):
        raise OptionError("this judge does not know its mechanisms: train it on empathy:epitome, or name --mechanisms")
    # One task at a time: for several tasks ParlAI would create one teacher that mixes their messages.
    teachers = (teacher for task in opt["task"].split(",") for teacher in training_teachers(task.strip(), opt))
    found = {name for teacher in teachers for name in teacher.act().get("levels") or ()}
    if not found:
        raise OptionError(f"--task {opt['task']}: its messages have no levels of empathy; train on empathy:epitome")
    opt["mechanisms"] = [name for name in MECHANISMS if name in found]
