"""Detects a task's classes, so that users need not type them."""

from __future__ import annotations

from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.training_fold import training_teachers

_ENOUGH = 50  # messages that are enough to tell classes from replies


def set_classes_of_task(opt: Opt) -> None:
    """Set ``opt["classes"]`` to the training task's classes unless ``--classes`` names them; ParlAI saves them.

    A judge of replies has no classes; ``classes_known`` records that as well.
    """
    if not opt.get("classes") and not opt.get("classes_known"):
        opt["classes"] = task_classes(opt) or []
    opt["classes_known"] = True


def task_classes(opt: Opt) -> list[str] | None:
    """Return the training task's candidates if every message has the same ones; None if they are replies.

    If there are several tasks, all must have the same classes, or none may have any.

    :raises OptionError: if the tasks' classes differ, or there is no task to detect them from.
    """
    if not opt.get("task") or opt.get("interactive_mode"):
        raise OptionError("this judge does not know its classes: train it on a task, or name them with --classes")
    # One task at a time: for several tasks ParlAI would create one teacher that mixes their messages.
    tasks = [task.strip() for task in opt["task"].split(",") if task.strip()]
    found = [_classes_of(teacher) for task in tasks for teacher in training_teachers(task, opt)]
    if any(classes != found[0] for classes in found):
        raise OptionError(f"--task {opt['task']}: its tasks have different classes; train on one, or name --classes")
    return found[0]


def _classes_of(teacher: Any) -> list[str] | None:
    messages = (teacher.act() for _ in range(min(_ENOUGH, teacher.num_examples())))
    lists = [list(message.get("label_candidates") or ()) for message in messages]
    first = lists[0] if lists else []
    return first if len(first) > 1 and all(texts == first for texts in lists) else None
