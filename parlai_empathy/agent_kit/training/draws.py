"""Random draws when a model is built and during training."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import torch
from parlai.utils.distributed import get_rank


def seed_weights(opt: Mapping[str, Any]) -> None:
    """Seed the initial weights of the next model with ``--seed``, if it is given.

    ParlAI seeds only after it has built the model.
    """
    if opt.get("seed") is not None:
        torch.manual_seed(opt["seed"])


def random_of_step(opt: Mapping[str, Any], step: int) -> random.Random:
    """Return a random generator for one training step.

    It depends on ``--seed``, the step and the process, so a resumed training draws the same as an uninterrupted one.
    """
    return random.Random(f"{opt.get('seed')} {step} {get_rank()}")
