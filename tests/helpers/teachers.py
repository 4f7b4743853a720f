"""The examples of a teacher."""

from __future__ import annotations

from typing import Any


def examples_of(teacher: Any) -> list[dict[str, Any]]:
    """Return one epoch of a teacher's examples, with labels always under ``labels``."""
    teacher.reset()
    found = []
    while not teacher.epoch_done():
        message = dict(teacher.act())
        message["labels"] = list(message.get("labels") or message.pop("eval_labels"))
        found.append(message)
    return found
