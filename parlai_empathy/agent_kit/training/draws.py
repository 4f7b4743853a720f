"""What is drawn at random when a model is built and while it is trained."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import torch
from parlai.utils.distributed import get_rank


def seed_weights(opt: Mapping[str, Any]) -> None:
    """Let the weights of a model that is built next begin from ``--seed``, where it is given.

    ParlAI seeds only after it has built the model.
    """
    if opt.get("seed") is not None:
        torch.manual_seed(opt["seed"])


def random_of_step(opt: Mapping[str, Any], step: int) -> random.Random:
    """What a training step draws from: another for each ``--seed``, step and process, and the same one when the
    training is interrupted and goes on.
    """
    return random.Random(f"{opt.get('seed')} {step} {get_rank()}")
