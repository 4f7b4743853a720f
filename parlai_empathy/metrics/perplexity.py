"""Perplexity, over tokens and over examples.

ParlAI's ``ppl`` is the exponential of the mean loss over all tokens. ``ppl_peers``, in the papers from MoEL (Lin et al.
2019) to CASE (Zhou et al. 2023), is that of the mean over examples of each example's mean token loss: a short reply
counts as much as a long one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from parlai.core.metrics import AverageMetric
from parlai.core.torch_generator_agent import PPLMetric
from torch import Tensor

from parlai_empathy.signature import signature


def example_losses(losses: Tensor, is_token: Tensor) -> Tensor:
    """Return each example's mean token loss.

    :param losses: ``(batch, length)``, in nats.
    :param is_token: ``(batch, length)`` booleans; False is padding. At least one token per row.
    :returns: ``(batch,)``
    """
    return (losses * is_token).sum(dim=1) / is_token.sum(dim=1)


class Perplexity(PPLMetric):
    """The perplexity of the examples accumulated so far.

    :param numer: sum of losses, in nats: of the tokens, or of the examples' means.
    :param denom: number of tokens, or of examples.
    :param settings: how the losses were computed, for the signature.
    :param split: the fold, for the signature.
    :param examples: number of examples.
    """

    __slots__ = ("examples", "settings", "split")

    def __init__(
        self,
        numer: float,
        denom: float = 1,
        settings: Mapping[str, object] | None = None,
        split: str | None = None,
        examples: int = 1,
    ) -> None:
        super().__init__(numer, denom)
        self.settings = settings or {}
        self.split = split
        self.examples = examples

    def __add__(self, other: AverageMetric | None) -> Perplexity:
        total = super().__add__(other)
        examples = self.examples + (other.examples if isinstance(other, Perplexity) else 0)
        return Perplexity(total._numer, total._denom, self.settings, self.split, examples)

    def value(self) -> float:
        """At least 1; NaN without tokens, as of an example without a true reply, which logs contain too."""
        return float(super().value()) if self._denom else math.nan

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature("PPL", **self.settings, n=self.examples, split=self.split)
