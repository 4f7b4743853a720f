"""Trainings of a few steps on the sample, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tiny_parts import SIZES, TASK

TINY: dict[str, Any] = {**TASK, **SIZES, "model": "empathy:retrieval"}
ONCE: dict[str, Any] = {"num_epochs": 1, "batchsize": 100, "save_after_valid": True}


def validated(module: Any, folder: Path, **options: Any) -> list[int]:
    """Train with a module's loop; return the steps at which it validated."""
    module.TrainModel.main(**{**TINY, **options}, model_file=str(folder / "model"))
    stats = json.loads((folder / "model.trainstats").read_text())
    return [report["train_steps"] for report in stats["valid_reports"]]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = torch.load(folder / "model", weights_only=False)["model"]
    return found


def stats_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "model.trainstats").read_text())
    return found
