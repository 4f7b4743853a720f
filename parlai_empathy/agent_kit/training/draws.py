"""What is drawn at random while a model is trained."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from parlai.utils.distributed import get_rank


def random_of_step(opt: Mapping[str, Any], step: int) -> random.Random:
    """What a training step draws from: another for each ``--seed``, step and process, and the same one when the
    training is interrupted and goes on.
    """
    return random.Random(f"{opt.get('seed')} {step} {get_rank()}")
