"""How often the emotion that a model tells from a context is the conversation's (Rashkin et al. 2019, section 4.2)."""

from __future__ import annotations

import math

from parlai.core.metrics import AverageMetric

from parlai_empathy.metrics.signature import signature


class EmotionAccuracy(AverageMetric):
    """The share of contexts whose emotion is told right, 0..1. A context without a true emotion has no share in it.

    :param emotions: how many there were to tell apart, for the signature.
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
        """0..1, or NaN if there was no true emotion at all."""
        return float(super().value()) if self._denom else math.nan

    @property
    def signature(self) -> str:
        """What decided the number."""
        return signature("emotion accuracy", of="context", emotions=self.emotions, n=int(self._denom), split=self.split)
