"""How many steps a training has taken, also where it was interrupted and goes on."""

from __future__ import annotations

from typing import Any

from parlai.core.torch_agent import TorchAgent


class UpdateCount(TorchAgent):
    """Put before an agent's other bases: a training that goes on counts on. ParlAI's does so with a schedule alone.

    The count decides what a step draws, see :func:`~parlai_empathy.agent_kit.training.draws.random_of_step`.
    """

    def build_lr_scheduler(self, states: dict[str, Any] | None = None, hard_reset: bool = False) -> None:
        """Make the schedule of the rate, and count on from a saved training's updates.

        :param states: the saved training's.
        :param hard_reset: whether this one begins anew, with its weights or with another optimiser.
        """
        self.build_schedule(states, hard_reset)
        if not hard_reset:
            self._number_training_updates = (states or {}).get("number_training_updates", 0)

    def build_schedule(self, states: dict[str, Any] | None, hard_reset: bool) -> None:
        """Make the schedule: ParlAI's, unless a subclass has one of its own."""
        super().build_lr_scheduler(states, hard_reset)
