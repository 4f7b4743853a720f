"""Perplexity as the papers from MoEL (Lin et al. 2019) to CASE (Zhou et al. 2023) compute it.

The exponential of the mean over examples of each example's mean token loss: a short reply counts as much as a long one.
ParlAI's ``ppl`` is the exponential of the mean over tokens.
"""

from __future__ import annotations

import math

from parlai.core.metrics import AverageMetric
from torch import Tensor

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature


def example_losses(losses: Tensor, is_token: Tensor) -> Tensor:
    """Return each example's mean token loss.

    :param losses: ``(batch, length)``, in nats.
    :param is_token: ``(batch, length)`` booleans; False is padding. At least one token per row.
    :returns: ``(batch,)``
    """
    return (losses * is_token).sum(dim=1) / is_token.sum(dim=1)


class PeersPerplexity(AverageMetric):
    """The perplexity of the examples accumulated so far.

    :param numer: the sum of the examples' mean token losses.
    :param denom: number of examples.
    :param tokens: the tokeniser's name, for the signature.
    :param vocabulary: the model's vocabulary size, for the signature.
    :param precision: the format in which the losses were computed, for the signature, if it is not float32.
    """

    __slots__ = ("precision", "split", "tokens", "vocabulary")

    def __init__(
        self,
        numer: float,
        denom: float = 1,
        tokens: str | None = None,
        vocabulary: int | None = None,
        split: str | None = None,
        precision: str | None = None,
    ) -> None:
        super().__init__(numer, denom)
        self.tokens = tokens
        self.vocabulary = vocabulary
        self.split = split
        self.precision = precision

    def __add__(self, other: AverageMetric | None) -> PeersPerplexity:
        total = super().__add__(other)
        about = (self.tokens, self.vocabulary, self.split, self.precision)
        return PeersPerplexity(total._numer, total._denom, *about)

    def value(self) -> float:
        """At least 1. Raises :class:`NotComputableError` if there are no examples."""
        if not self._denom:
            raise NotComputableError("perplexity: there are no examples")
        return math.exp(super().value())

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature(
            "PPL",
            mean="examples",
            case="lower",
            tokens=self.tokens,
            vocabulary=self.vocabulary,
            precision=self.precision,
            n=int(self._denom),
            split=self.split,
        )
