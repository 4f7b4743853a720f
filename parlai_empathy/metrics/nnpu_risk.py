"""The non-negative risk of telling true replies from unlabelled ones, over a whole fold (Kiryo et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.metrics.means import Means


class NnpuRisk(Means):
    """The risk of the replies accumulated so far; the mean of batches' risks would depend on the batch size.

    :param true: the probabilities that a judge gives true replies, 0..1; ``others``: those that it gives unlabelled
        ones.
    :param prior: the share of unlabelled replies that are positive, 0..1.
    """

    __slots__ = ("prior",)

    def __init__(self, true: Sequence[float], others: Sequence[float], prior: float) -> None:
        super().__init__([sum(true), sum(others)], [len(true), len(others)])
        self.prior = prior

    def value(self) -> float:
        """At least 0; that of :func:`parlai_empathy.modules.classifiers.losses.nnpu_risk` for all replies at once."""
        true, others = self.means.tolist()
        if not self.counts[0]:
            return float(others)
        missed = self.prior * (1 - true)
        return float(missed + max(others - self.prior * true, 0.0) if self.counts[1] else missed)
