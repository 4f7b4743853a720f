"""Finding out what a task's classes are, so that nobody has to type them."""

from __future__ import annotations

from typing import Any

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.tasks.training_fold import training_teachers

_ENOUGH = 50  # messages that show whether candidates are classes or replies


def bring_classes(opt: Opt) -> None:
    """Put the training task's classes into ``opt`` where ``--classes`` does not name them; ParlAI saves them there.

    A judge of replies has none, which is known from then on as well.
    """
    if not opt.get("classes") and not opt.get("classes_known"):
        opt["classes"] = task_classes(opt) or []
    opt["classes_known"] = True


def task_classes(opt: Opt) -> list[str] | None:
    """The candidates of the training task, if the same ones come with each message; else None: they are replies.

    Of several tasks all must have the same classes, or none any.

    :raises OptionError: if they differ, or if there is no task to ask.
    """
    if not opt.get("task") or opt.get("interactive_mode"):
        raise OptionError("this judge does not know its classes: train it on a task, or name them with --classes")
    # One task after the other: of several ParlAI would make one teacher, which mixes their messages.
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
