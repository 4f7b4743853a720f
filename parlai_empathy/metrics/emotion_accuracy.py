"""Accuracy of the emotion that a model predicts from a context (Rashkin et al. 2019, section 4)."""

from __future__ import annotations

import math

from parlai.core.metrics import AverageMetric

from parlai_empathy.signature import signature


class EmotionAccuracy(AverageMetric):
    """The share of contexts whose emotion is predicted correctly, 0..1. Contexts without a true emotion are ignored.

    :param emotions: number of emotions to choose from, for the signature.
    """

    __slots__ = ("emotions", "split")

    def __init__(self, numer: float, denom: float = 1, emotions: int | None = None, split: str | None = None) -> None:
        super().__init__(numer, denom)
        self.emotions = emotions
        self.split = split

    def __add__(self, other: AverageMetric | None) -> EmotionAccuracy:
        total = super().__add__(other)
        return EmotionAccuracy(total._numer, total._denom, self.emotions, self.split)

    def value(self) -> float:
        """0..1, or NaN if no context has a true emotion."""
        return float(super().value()) if self._denom else math.nan

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature("emotion accuracy", of="context", emotions=self.emotions, n=int(self._denom), split=self.split)
