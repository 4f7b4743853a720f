"""What a teacher gives."""

from __future__ import annotations

from typing import Any


def examples_of(teacher: Any) -> list[dict[str, Any]]:
    """One epoch of a teacher; labels under one name for all folds."""
    teacher.reset()
    found = []
    while not teacher.epoch_done():
        message = dict(teacher.act())
        message["labels"] = list(message.get("labels") or message.pop("eval_labels"))
        found.append(message)
    return found
