"""A loss that is not finite stops training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.torch_agent import TorchAgent
from torch import Tensor

from parlai_empathy.agent_kit.training.finite_loss import FiniteLoss
from parlai_empathy.errors import TrainingError


class Plain(TorchAgent):
    """An agent after some updates."""

    def __init__(self, updates: int, model_file: Path | None = None) -> None:
        self.opt = Opt(learningrate=0.1, model_file=model_file and str(model_file), update_freq=1)
        self.fp16, self.model, self._number_training_updates, self._number_grad_accum = False, None, updates, 0

    def build_model(self) -> None: ...

    def train_step(self, batch: Any) -> None: ...

    def eval_step(self, batch: Any) -> None: ...


class Checked(FiniteLoss, Plain):
    """The same, whose losses are checked."""


def learn(agent: Checked, losses: Tensor) -> Tensor:
    weight = torch.ones((), requires_grad=True)
    agent.backward((weight * losses).mean())
    assert weight.grad is not None
    return weight.grad


def test_finite_losses_give_their_gradients() -> None:
    assert float(learn(Checked(0), torch.tensor([0.0, -1.0, 1e30]))) == pytest.approx(1e30 / 3)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_single_non_finite_loss_raises_training_error(wrong: float) -> None:
    with pytest.raises(TrainingError, match=r"after 1,234 updates: try a lower --learningrate \(now 0.1\)") as error:
        learn(Checked(1234), torch.tensor([1.0, wrong, 2.0]))
    assert str(wrong) in str(error.value)
    assert "as last saved" not in str(error.value)


@pytest.mark.parametrize("ending", ["", ".checkpoint"])
def test_error_mentions_the_saved_model(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"m{ending}").touch()
    with pytest.raises(TrainingError, match="is as last saved"):
        learn(Checked(5, tmp_path / "m"), torch.tensor(float("nan")))
