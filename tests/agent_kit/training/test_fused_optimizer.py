"""Fused optimiser steps, compared with torch's default implementation."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.torch_agent import TorchAgent

from parlai_empathy.agent_kit.training.fused_optimizer import FusedOptimizer


class Plain(TorchAgent):
    """An agent with only an optimiser, ParlAI's."""

    def __init__(self, opt: Opt, weights: torch.Tensor) -> None:
        self.opt = opt
        self.fp16 = False
        self.init_optim([weights])

    def build_model(self) -> None: ...

    def train_step(self, batch: Any) -> None: ...

    def eval_step(self, batch: Any) -> None: ...


class Fused(FusedOptimizer, Plain):
    """The same with the fused optimiser."""


def trained(kind: type[Plain], optimizer: str) -> tuple[Plain, torch.Tensor]:
    torch.manual_seed(1)
    weights = torch.randn(50, 3, requires_grad=True)
    opt = Opt(optimizer=optimizer, learningrate=0.01, weight_decay=0.1, betas=(0.9, 0.999), adam_eps=1e-8)
    opt.update(momentum=0.0, nesterov=True)
    agent = kind(opt, weights)
    for _ in range(5):
        agent.optimizer.zero_grad()
        weights.sin().sum().backward()
        agent.optimizer.step()
    return agent, weights


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adamax", "sgd"])
def test_fused_steps_equal_default_steps(optimizer: str) -> None:
    (ours, found), (theirs, expected) = trained(Fused, optimizer), trained(Plain, optimizer)
    torch.testing.assert_close(found, expected)
    assert bool(ours.optimizer.param_groups[0].get("fused")) is (optimizer in ("adam", "adamw"))
    assert not theirs.optimizer.param_groups[0].get("fused")
