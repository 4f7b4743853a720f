"""torch removed the argument ``verbose`` of ``ReduceLROnPlateau``, ParlAI's default learning-rate scheduler."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def reduce_on_plateau(lr_scheduler: ModuleType) -> None:
    """Create ParlAI's default scheduler without the argument that torch removed."""
    from torch.optim.lr_scheduler import ReduceLROnPlateau

    def __init__(
        self: Any, optimizer: Any, patience: int, decay: float, warmup_updates: int, warmup_rate: float
    ) -> None:
        lr_scheduler.ParlAILRScheduler.__init__(self, warmup_updates, warmup_rate)
        self.scheduler = ReduceLROnPlateau(optimizer, "min", factor=decay, patience=patience)

    lr_scheduler.ReduceOnPlateauLRScheduler.__init__ = __init__
