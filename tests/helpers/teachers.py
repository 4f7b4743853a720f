"""Teachers as ParlAI's scripts load them, and their examples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname


def load_teacher(
    datapath: Path,
    task: str,
    datatype: str = "train:ordered",
    others: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Load a teacher from the text after ``-t`` and the options.

    :param others: options of other parsers, such as a trainer's ``seed``.
    """
    parser = ParlaiParser(add_parlai_args=True, add_model_args=False)
    opt = parser.parse_kwargs(task=task, datatype=datatype, **{"datapath": str(datapath), **options})
    opt.update(others or {})
    return create_task_agent_from_taskname(opt)[0]


def examples_of(teacher: Any) -> list[dict[str, Any]]:
    """Return one epoch of a teacher's examples, with labels always under ``labels``."""
    teacher.reset()
    found = []
    while not teacher.epoch_done():
        message = dict(teacher.act())
        message["labels"] = list(message.get("labels") or message.pop("eval_labels"))
        found.append(message)
    return found
