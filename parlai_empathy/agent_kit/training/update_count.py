"""The number of steps that a training has taken, across interruptions."""

from __future__ import annotations

from typing import Any

from parlai.core.torch_agent import TorchAgent


class UpdateCount(TorchAgent):
    """Mixin that restores the update count when training resumes, which ParlAI does only with a schedule.

    List it before the agent's other bases. The count seeds each step's random draws, see
    :func:`~parlai_empathy.agent_kit.training.draws.random_of_step`.
    """

    def build_lr_scheduler(self, states: dict[str, Any] | None = None, hard_reset: bool = False) -> None:
        """Build the learning-rate schedule, and restore the update count of a saved training.

        :param states: of the saved training.
        :param hard_reset: whether training starts anew, from saved weights or with another optimiser.
        """
        self.build_schedule(states, hard_reset)
        if not hard_reset:
            self._number_training_updates = (states or {}).get("number_training_updates", 0)

    def build_schedule(self, states: dict[str, Any] | None, hard_reset: bool) -> None:
        """Build the schedule: ParlAI's, unless a subclass overrides it."""
        super().build_lr_scheduler(states, hard_reset)
