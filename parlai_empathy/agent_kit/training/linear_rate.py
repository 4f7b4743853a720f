"""A learning rate that falls linearly to 0 at the end of training, whose length is determined automatically."""

from __future__ import annotations

import math
from typing import Any

from parlai.core.opt import Opt
from parlai.utils.distributed import num_workers

from parlai_empathy.agent_kit.training.update_count import UpdateCount
from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.training_fold import training_teachers


class LinearRate(UpdateCount):
    """Mixin that replaces ParlAI's ``--lr-scheduler linear`` and keeps its other schedules. List it before other bases.

    ParlAI's own linear schedule needs the number of steps as an option, and ends the training itself.
    """

    _steps = 0  # of the whole training; 0 without a training or with another schedule

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None) -> None:
        super().__init__(opt, shared)
        if shared:
            self._steps = shared["steps"]

    def share(self) -> dict[str, Any]:
        """Also share the number of steps."""
        return {**super().share(), "steps": self._steps}

    def build_schedule(self, states: dict[str, Any] | None, hard_reset: bool) -> None:
        """Determine the number of steps, or leave other schedules to ParlAI."""
        if self.opt["lr_scheduler"] != "linear":
            super().build_schedule(states, hard_reset)
            return
        self.scheduler = None
        self._steps = steps_of(self.opt)

    def set_rate(self) -> None:
        """Set the current learning rate: it rises for ``--warmup-updates``, then falls to 0 at the end of training."""
        if not self._steps:
            return
        done, warmup = self._number_training_updates, max(self.opt.get("warmup_updates") or 0, 0)
        share = min(1.0, (done + 1) / (warmup + 1)) * max(0.0, 1 - done / self._steps)
        assert self.optimizer is not None
        for group in self.optimizer.param_groups:
            group["lr"] = self.opt["learningrate"] * share


def steps_of(opt: Opt) -> int:
    """Return the number of training steps: ``--max-train-steps`` or the length of ``--num-epochs``, whichever is less.

    :raises OptionError: if neither is set.
    """
    most = opt.get("max_train_steps") or -1
    epochs = opt.get("num_epochs") or -1
    if epochs <= 0 and most <= 0:
        raise OptionError(
            "--lr-scheduler linear: the rate falls to 0 at the training's end: set --num-epochs or --max-train-steps"
        )
    if epochs <= 0:
        return int(most)
    at_once = opt["batchsize"] * num_workers() * (opt.get("update_freq") or 1)
    steps: int = math.ceil(epochs * _training_examples(opt) / at_once)
    return min(steps, int(most)) if most > 0 else steps


def _training_examples(opt: Opt) -> int:
    return int(sum(teacher.num_examples() for teacher in training_teachers(opt["task"], opt)))
