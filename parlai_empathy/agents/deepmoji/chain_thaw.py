"""Chain-thaw: fine-tuning one layer after another, and finally all together (Felbo et al. 2017, section 3.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parlai_empathy.errors import OptionError

LAYERS = ("head", "embedding", "lstm_0", "lstm_1", "attention")
"""The order: the new layer first, then the others from first to last. In a final stage all are trained together."""


@dataclass
class ChainThaw:
    """The state of a chain-thaw training.

    :param patience: validations without improvement after which the next stage begins.
    :param measure: what is scored: a metric on a task.
    :param best: the best score so far, over all stages; higher is better.
    """

    patience: int
    measure: str = ""
    stage: int = 0
    best: float = -math.inf
    waited: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the last stage has ended."""
        return self.stage > len(LAYERS)

    @property
    def layers(self) -> Sequence[str]:
        """The layers trained in this stage."""
        return LAYERS if self.stage >= len(LAYERS) else LAYERS[self.stage : self.stage + 1]

    def validated(self, score: float) -> bool:
        """Record a validation score; return whether a new stage begins, from the best weights so far."""
        if score > self.best:
            self.best, self.waited = score, 0
            return False
        self.waited += 1
        if self.waited < self.patience:
            return False
        self.stage, self.waited = self.stage + 1, 0
        return True

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"stage": self.stage, "measure": self.measure, "best": self.best, "waited": self.waited}

    def load(self, state: dict[str, Any]) -> None:
        """Restore the state from a checkpoint; the best score only if the same was scored."""
        self.stage = int(state["stage"])
        if state.get("measure", self.measure) == self.measure:
            self.best, self.waited = float(state["best"]), int(state["waited"])


def check_patience(thaw: int, validation: int) -> None:
    """Raise :class:`OptionError` if ParlAI could stop the training before the last stage has begun.

    :param thaw: ``--thaw-patience``.
    :param validation: ``--validation-patience``; 0 or less means none.
    """
    needed = thaw * (len(LAYERS) + 1)
    if 0 < validation <= needed:
        raise OptionError(
            f"--validation-patience {validation}: --thaw-patience {thaw} may need {needed} validations without "
            "improvement; set --validation-patience 0"
        )
