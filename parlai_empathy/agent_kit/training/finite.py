"""Ending a training whose loss is no number any more, before its weights are spoilt and saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from parlai_empathy.errors import TrainingError


def check_finite(losses: Tensor, opt: Mapping[str, Any], updates: int) -> None:
    """See that each loss is a finite number. Call it before the step that would take it into the weights.

    :param losses: of any shape.
    :param updates: how many steps were taken before.
    :raises TrainingError: if one is not.
    """
    if bool(losses.isfinite().all()):
        return
    path = opt.get("model_file")
    kept = f"; {path} is as it was saved last, and the same command goes on from it" if path and _is_saved(path) else ""
    raise TrainingError(
        f"the loss is {float(losses.detach().sum())} after {updates:,} updates: "
        f"try a lower --learningrate (now {opt.get('learningrate'):g}) or --gradient-clip 1{kept}"
    )


def _is_saved(path: str) -> bool:
    return any(Path(path + ending).is_file() for ending in (".checkpoint", ""))
