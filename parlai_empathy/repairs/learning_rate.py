"""Learning rates. torch removed the argument ``verbose`` of ``ReduceLROnPlateau``, ParlAI's default schedule; a warm-up
stops before the full rate; and a resumed training ignores a new ``--learningrate``, and with a schedule takes one step
at the highest rate.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
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


def reach_full_rate(lr_scheduler: ModuleType) -> None:
    """Let a warm-up reach the learning rate with the schedules that change it at validations only: ParlAI's stops one
    step short of it, and these leave the rate there. After ``--warmup-updates 1`` it would be 1 / 10,000 of it.
    """

    def train_step(self: Any, scheduler_steps: int) -> None:
        if scheduler_steps == 0 and self.warmup_scheduler:
            self.warmup_scheduler.step()

    for kind in (lr_scheduler.ReduceOnPlateauLRScheduler, lr_scheduler.FixedLRScheduler):
        kind.train_step = train_step


def use_given_rate(torch_agent: Any) -> None:
    """Let a resumed training use the learning rate that it is given: ParlAI restores that of the saved optimiser.

    The saved rates are scaled, so what a schedule has made of them, such as a plateau's decay, is kept.
    """
    begin = torch_agent.TorchAgent.init_optim

    @functools.wraps(begin)
    def init_optim(self: Any, params: Any, *args: Any, **kwargs: Any) -> Any:
        params = list(params)
        given = _given_rates(params, self.opt["learningrate"])
        was_reset = begin(self, params, *args, **kwargs)
        for group, rate in zip(_groups(self), given, strict=True):
            # Where the rate begins, as torch's schedules call it. Files that ParlAI saved without them do not say.
            saved = group.get("initial_lr", group["lr"])
            group["lr"] = group["lr"] * (rate / saved) if saved else rate
            group["initial_lr"] = rate
        return was_reset

    torch_agent.TorchAgent.init_optim = init_optim


def resume_at_same_rate(torch_agent: Any) -> None:
    """Let a schedule go on from the rate that the training had: torch sets the initial one when it builds a schedule,
    and does not undo it when it loads a saved one.
    """
    build = torch_agent.TorchAgent.build_lr_scheduler

    @functools.wraps(build)
    def build_lr_scheduler(self: Any, states: dict[str, Any] | None = None, hard_reset: bool = False) -> None:
        groups = _groups(self)
        rates = [group["lr"] for group in groups]
        build(self, states, hard_reset)
        is_same = (states or {}).get("lr_scheduler_type") == self.opt["lr_scheduler"]
        if hard_reset or not (is_same and self.scheduler):  # it begins anew
            return
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate
        for schedule in filter(None, (self.scheduler.scheduler, self.scheduler.warmup_scheduler)):
            schedule.base_lrs = [group["initial_lr"] for group in groups]  # it has loaded those of the saved one
            schedule._last_lr = rates  # which ParlAI reports

    torch_agent.TorchAgent.build_lr_scheduler = build_lr_scheduler


def _given_rates(params: Sequence[Any], rate: float) -> list[float]:
    """Return the rate of each of an optimiser's parameter groups.

    :param params: parameters, or groups of them.
    :param rate: of groups without a rate of their own.
    """
    return [group.get("lr", rate) for group in params if isinstance(group, dict)] or [rate]


def _groups(agent: Any) -> list[dict[str, Any]]:
    optimizer = agent.optimizer.optimizer if agent.fp16 else agent.optimizer
    groups: list[dict[str, Any]] = optimizer.param_groups
    return groups
