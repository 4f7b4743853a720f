"""torch took ``verbose`` from ``ReduceLROnPlateau``, which is ParlAI's default scheduler of the learning rate."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def reduce_on_plateau(lr_scheduler: ModuleType) -> None:
    """Build ParlAI's default scheduler without the argument that torch no longer takes."""
    from torch.optim.lr_scheduler import ReduceLROnPlateau

    def __init__(
        self: Any, optimizer: Any, patience: int, decay: float, warmup_updates: int, warmup_rate: float
    ) -> None:
        lr_scheduler.ParlAILRScheduler.__init__(self, warmup_updates, warmup_rate)
        self.scheduler = ReduceLROnPlateau(optimizer, "min", factor=decay, patience=patience)

    lr_scheduler.ReduceOnPlateauLRScheduler.__init__ = __init__
