"""ParlAI's default learning-rate scheduler works with the installed torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.metrics import AverageMetric
from parlai.nn import lr_scheduler
from parlai_as_it_comes import unrepaired


def plateau(module: Any) -> Any:
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    return module.ReduceOnPlateauLRScheduler(optimiser, 1, 0.5, -1, 1e-4)  # patience, decay, no warm-up


def test_default_scheduler_reduces_rate_on_plateau() -> None:
    scheduler = plateau(lr_scheduler)
    rates = []
    # Patience 1: the second bad epoch in a row (losses 2, 2 after 1) halves the rate; the count then restarts.
    for loss in (1.0, 2.0, 2.0, 2.0, 2.0, 0.5):
        scheduler.valid_step({"loss": AverageMetric(loss)})
        rates.append(scheduler.scheduler.optimizer.param_groups[0]["lr"])
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]


def test_default_scheduler_state_is_restored() -> None:
    scheduler = plateau(lr_scheduler)
    for loss in (1.0, 2.0):
        scheduler.valid_step({"loss": AverageMetric(loss)})
    again = plateau(lr_scheduler)
    again.load_state({"number_training_updates": 7, "lr_scheduler": scheduler.get_state_dict()})
    again.valid_step({"loss": AverageMetric(2.0)})  # the second bad epoch; the saved state holds the first
    assert again.scheduler.optimizer.param_groups[0]["lr"] == 0.5


def test_unrepaired_parlai_passes_verbose_which_torch_rejects() -> None:
    with pytest.raises(TypeError, match="verbose"):
        plateau(unrepaired("parlai.nn.lr_scheduler"))
