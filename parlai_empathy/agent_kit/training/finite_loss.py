"""Stops training when the loss is no longer finite, before the weights are corrupted and saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from parlai_empathy.errors import TrainingError


def check_finite(losses: Tensor, opt: Mapping[str, Any], updates: int) -> None:
    """Raise :class:`TrainingError` if a loss is not finite. Call it before the optimiser step.

    :param losses: of any shape.
    :param updates: number of steps taken so far.
    :raises TrainingError: if a loss is NaN or infinite.
    """
    if bool(losses.isfinite().all()):
        return
    path = opt.get("model_file")
    kept = f"; {path} is as last saved, and the same command resumes from it" if path and _is_saved(path) else ""
    raise TrainingError(
        f"the loss is {float(losses.detach().sum())} after {updates:,} updates: "
        f"try a lower --learningrate (now {opt.get('learningrate'):g}) or --gradient-clip 1{kept}"
    )


def _is_saved(path: str) -> bool:
    return any(Path(path + ending).is_file() for ending in (".checkpoint", ""))
