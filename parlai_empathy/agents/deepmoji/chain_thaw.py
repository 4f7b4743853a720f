"""Chain-thaw: fine-tuning one layer after the other, and all of them at last (Felbo et al. 2017, section 3.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parlai_empathy.errors import OptionError

LAYERS = ("head", "embedding", "lstm_0", "lstm_1", "attention")
"""The order: the new layer first, then the others from the first to the last. After them come all together."""


@dataclass
class ChainThaw:
    """Where a training stands.

    :param patience: validations without gain after which the next layer's turn comes.
    :param best: the best score yet, in whichever stage; more is better.
    """

    patience: int
    stage: int = 0
    best: float = -math.inf
    waited: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the last stage has come to its end."""
        return self.stage > len(LAYERS)

    @property
    def layers(self) -> Sequence[str]:
        """Which layers are trained."""
        return LAYERS if self.stage >= len(LAYERS) else LAYERS[self.stage : self.stage + 1]

    def validated(self, score: float) -> bool:
        """Take notice of a validation; returns whether a new stage begins, with the best weights yet."""
        if score > self.best:
            self.best, self.waited = score, 0
            return False
        self.waited += 1
        if self.waited < self.patience:
            return False
        self.stage, self.waited = self.stage + 1, 0
        return True

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"stage": self.stage, "best": self.best, "waited": self.waited}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.stage, self.best, self.waited = int(state["stage"]), float(state["best"]), int(state["waited"])


def check_patience(thaw: int, validation: int) -> None:
    """Raise :class:`OptionError` if ParlAI would stop the training before the last stage has begun.

    :param thaw: ``--thaw-patience``.
    :param validation: ``--validation-patience``; 0 or less for none.
    """
    needed = thaw * (len(LAYERS) + 1)
    if 0 < validation <= needed:
        raise OptionError(
            f"--validation-patience {validation}: --thaw-patience {thaw} may need {needed} validations without gain; "
            "set --validation-patience 0"
        )
