"""The number of steps that a training has taken, across interruptions."""

from __future__ import annotations

from typing import Any

from parlai.core.torch_agent import TorchAgent


class UpdateCount(TorchAgent):
    """Mixin that restores the update count when training resumes, which ParlAI does only with a schedule.

    List it before the agent's other bases. The count seeds each step's random draws, see
    :func:`~parlai_empathy.agent_kit.training.draws.random_of_step`.
    """

    _is_new_training = False  # whether it starts from the weights of another training

    def init_optim(self, *args: Any, is_finetune: bool = False, **kwargs: Any) -> bool:
        """Build ParlAI's optimiser."""
        self._is_new_training = is_finetune
        was_reset: bool = super().init_optim(*args, is_finetune=is_finetune, **kwargs)
        return was_reset

    def build_lr_scheduler(self, states: dict[str, Any] | None = None, hard_reset: bool = False) -> None:
        """Build the learning-rate schedule, and restore the update count of a saved training.

        :param states: of the saved training.
        :param hard_reset: whether the optimiser is another one, or training starts from saved weights. ParlAI's
            schedules, which count the updates themselves, then start anew.
        """
        self.build_schedule(states, hard_reset)
        if not (self._is_new_training or (hard_reset and self.scheduler)):
            self._number_training_updates = (states or {}).get("number_training_updates", 0)

    def build_schedule(self, states: dict[str, Any] | None, hard_reset: bool) -> None:
        """Build the schedule: ParlAI's, unless a subclass overrides it."""
        super().build_lr_scheduler(states, hard_reset)
