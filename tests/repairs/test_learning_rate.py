"""A resumed training uses the learning rate that it is given, and goes on where its schedule stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import parlai.core.torch_agent
import pytest
import torch
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.scripts import train_model as train_model_module
from parlai_as_it_comes import unrepaired
from short_training import validated

SCHEDULES = ["none", "reduceonplateau", "fixed", "invsqrt", "cosine", "linear"]
OF_HEAD = 0.5  # a parameter group's own rate


def begun(module: Any, scheduler: str, rate: float, states: dict[str, Any] | None = None) -> Any:
    """Return an agent of ParlAI's that begins a training, or goes on from a saved one; it has two parameter groups."""

    class Agent(module.TorchAgent):  # type: ignore[misc]
        def __init__(self) -> None:
            self.opt = Opt(learningrate=rate, lr_scheduler=scheduler, warmup_updates=10, warmup_rate=1e-4)
            self.opt.update(optimizer="sgd", momentum=0.0, lr_scheduler_patience=1, lr_scheduler_decay=0.5)
            self.opt.update(invsqrt_lr_decay_gamma=-1, max_train_steps=100)
            self.fp16, self._number_training_updates = False, 0

        def build_model(self) -> None: ...
        def train_step(self, batch: Any) -> None: ...
        def eval_step(self, batch: Any) -> None: ...

    agent, states = Agent(), states or {}
    groups = [{"params": [torch.zeros(1, requires_grad=True)]} for _ in range(2)]
    groups[1]["lr"] = OF_HEAD
    was_reset = agent.init_optim(groups, states.get("optimizer"), states.get("optimizer_type"))
    agent.build_lr_scheduler(states, hard_reset=was_reset)
    return agent


def rates_of(agent: Any, steps: int) -> list[list[float]]:
    """Take steps, with a bad validation after every fifth; return the rates with which they are taken."""
    rates = []
    for _ in range(steps):
        rates.append([group["lr"] for group in agent.optimizer.param_groups])
        agent.optimizer.step()
        agent._number_training_updates += 1
        if agent.scheduler:
            agent.scheduler.step(agent._number_training_updates)
            if agent._number_training_updates % 5 == 0:
                agent.scheduler.valid_step({"loss": AverageMetric(agent._number_training_updates)})
    return rates


@pytest.mark.parametrize("scheduler", SCHEDULES)
@pytest.mark.parametrize("before", [4, 30])  # within and after the warm-up
@pytest.mark.parametrize("factor", [1.0, 0.25])
def test_resumed_training_goes_on_at_the_given_rate(scheduler: str, before: int, factor: float) -> None:
    expected = rates_of(begun(parlai.core.torch_agent, scheduler, 0.1), before + 20)[before:]
    agent = begun(parlai.core.torch_agent, scheduler, 0.1)
    rates_of(agent, before)
    again = begun(parlai.core.torch_agent, scheduler, 0.1 * factor, agent.state_dict())
    for found, (whole, of_head) in zip(rates_of(again, 20), expected, strict=True):
        assert found == pytest.approx([whole * factor, of_head], rel=1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.025])
def test_decays_before_the_interruption_are_kept(rate: float) -> None:
    agent = begun(parlai.core.torch_agent, "reduceonplateau", 0.1)
    # Patience is 1: of the losses from 10 on, 15 and 20 are the first plateau, 25 and 30 the second.
    assert [rates[0] for rates in rates_of(agent, 31)][10::10] == pytest.approx([0.1 / 2**n for n in range(3)])
    again = begun(parlai.core.torch_agent, "reduceonplateau", rate, agent.state_dict())
    assert again.optimizer.param_groups[0]["lr"] == pytest.approx(rate / 4)
    assert again.scheduler.get_last_lr() == pytest.approx(rate / 4), "as ParlAI reports it"


@pytest.mark.parametrize("scheduler", ["reduceonplateau", "fixed"])
@pytest.mark.parametrize("before", [0, 9, 10])  # the last step of the warm-up may be that of a resumed training
def test_warmup_reaches_the_full_rate(scheduler: str, before: int) -> None:
    agent = begun(parlai.core.torch_agent, scheduler, 0.1)
    rates_of(agent, before)
    if before:
        agent = begun(parlai.core.torch_agent, scheduler, 0.1, agent.state_dict())
    # Ten updates rise from 1e-4 to the whole; the plateau lowers the rate after the 20th.
    rates = [rates[0] for rates in rates_of(agent, 14 - before)]
    expected = [0.1 * min(1, 1e-4 + 0.9999 * step / 10) for step in range(before, 14)]
    if scheduler == "fixed":  # which decays at each validation, here after the tenth update
        expected = [rate if step < 10 else rate / 2 for step, rate in enumerate(expected, start=before)]
    assert rates == pytest.approx(expected)


def test_rate_is_kept_exactly_if_none_is_given() -> None:
    agent = begun(parlai.core.torch_agent, "invsqrt", 0.0003)
    rates_of(agent, 29)
    again = begun(parlai.core.torch_agent, "invsqrt", 0.0003, agent.state_dict())
    assert rates_of(again, 20) == rates_of(agent, 20)


def test_rate_that_was_zero_can_be_raised() -> None:
    states = begun(parlai.core.torch_agent, "none", 0.0).state_dict()
    assert rates_of(begun(parlai.core.torch_agent, "none", 0.1, states), 1) == [[0.1, OF_HEAD]]


def test_rate_of_a_training_that_parlai_saved_is_replaced() -> None:
    states = begun(unrepaired("parlai.core.torch_agent"), "none", 0.1).state_dict()
    assert rates_of(begun(parlai.core.torch_agent, "none", 0.01, states), 1) == [[0.01, OF_HEAD]]


def test_another_schedule_begins_anew() -> None:
    agent = begun(parlai.core.torch_agent, "cosine", 0.1)
    rates_of(agent, 30)
    again = begun(parlai.core.torch_agent, "invsqrt", 0.2, agent.state_dict())
    # One ten-thousandth of the rate at the first of ten steps of warm-up; then a tenth more.
    assert [rates[0] for rates in rates_of(again, 2)] == pytest.approx([0.2 * 1e-4, 0.2 * (1e-4 + 0.9999 / 10)])


def test_resumed_command_trains_at_its_learning_rate(tmp_path: Path) -> None:
    options = {"batchsize": 32, "optimizer": "sgd", "save_after_valid": True}
    for steps, rate in ((2, 0.01), (4, 1e-5)):
        validated(train_model_module, tmp_path, **options, max_train_steps=steps, learningrate=rate)
        saved = torch.load(tmp_path / "model.checkpoint", weights_only=False)["optimizer"]["param_groups"]
        assert [group["lr"] for group in saved] == [rate]


@pytest.mark.parametrize("scheduler", ["ReduceOnPlateau", "Fixed"])
def test_unrepaired_parlai_does_nothing_after_the_last_step_of_a_warmup(scheduler: str) -> None:
    train_step = getattr(unrepaired("parlai.nn.lr_scheduler"), f"{scheduler}LRScheduler").train_step
    assert train_step(None, 0) is None, "it needs nothing of the scheduler"


def test_unrepaired_parlai_ignores_a_new_rate() -> None:
    module = unrepaired("parlai.core.torch_agent")
    assert rates_of(begun(module, "none", 0.01, begun(module, "none", 0.1).state_dict()), 1)[0][0] == 0.1


def test_unrepaired_parlai_resumes_with_a_step_at_the_highest_rate() -> None:
    module = unrepaired("parlai.core.torch_agent")
    agent = begun(module, "invsqrt", 0.1)
    rates_of(agent, 30)
    again = begun(module, "invsqrt", 0.1, agent.state_dict())
    resumed, uninterrupted = ([rates[0] for rates in rates_of(each, 2)] for each in (again, agent))
    assert resumed == pytest.approx([0.1, uninterrupted[1]])
    assert uninterrupted[0] < 0.08
