"""The update count of a resumed training, with each kind of schedule and without one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.torch_agent import TorchAgent

from parlai_empathy.agent_kit.training import linear_rate
from parlai_empathy.agent_kit.training.linear_rate import LinearRate
from parlai_empathy.agent_kit.training.update_count import UpdateCount

SAVED = {"number_training_updates": 30, "number_warmup_updates": 10, "warmup_scheduler": {}, "lr_scheduler": {}}


class Plain(TorchAgent):
    """An agent with an optimiser and a schedule."""

    def __init__(self, scheduler: str) -> None:
        self.opt = Opt(lr_scheduler=scheduler, learningrate=0.1, warmup_updates=10, warmup_rate=1e-4)
        self.opt.update(
            optimizer="sgd", momentum=0.0, lr_scheduler_patience=3, lr_scheduler_decay=0.5, invsqrt_lr_decay_gamma=-1
        )
        self.fp16 = False
        self.optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
        self._number_training_updates = 0

    def build_model(self) -> None: ...

    def train_step(self, batch: Any) -> None: ...

    def eval_step(self, batch: Any) -> None: ...


class Counting(UpdateCount, Plain):
    """An agent that continues its update count."""


class Linear(LinearRate, Counting):
    """The same with our schedule, in the judges' order of base classes."""

    def __init__(self, scheduler: str) -> None:
        Plain.__init__(self, scheduler)


def updates(agent: Plain, **begin: Any) -> int:
    agent.build_lr_scheduler(**begin)
    count: int = agent._number_training_updates
    return count


@pytest.fixture(autouse=True)
def _length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_rate, "steps_of", lambda opt: 100)


def test_parlai_restarts_update_count_without_scheduler() -> None:
    assert updates(Plain("none"), states=SAVED) == 0


@pytest.mark.parametrize(("kind", "scheduler"), [(Counting, "none"), (Linear, "none"), (Linear, "linear")])
def test_resumed_training_continues_update_count(kind: type[Plain], scheduler: str) -> None:
    assert updates(kind(scheduler), states=SAVED) == 30


KINDS = [(Counting, "none"), (Linear, "linear")]


@pytest.mark.parametrize(("kind", "scheduler"), KINDS)
def test_training_resumed_with_another_optimizer_continues_update_count(kind: type[Plain], scheduler: str) -> None:
    assert updates(kind(scheduler), states=SAVED, hard_reset=True) == 30


def test_parlais_schedule_starts_anew_with_another_optimizer() -> None:
    assert updates(Counting("invsqrt"), states=SAVED, hard_reset=True) == 0


@pytest.mark.parametrize(("kind", "scheduler"), KINDS)
@pytest.mark.parametrize("begin", [{}, {"states": {}}, {"states": SAVED, "hard_reset": True}])
def test_new_training_starts_update_count_at_zero(kind: type[Plain], scheduler: str, begin: dict[str, Any]) -> None:
    agent = kind(scheduler)
    agent.init_optim([torch.zeros(1, requires_grad=True)], is_finetune="hard_reset" in begin)
    assert updates(agent, **begin) == 0
