"""The non-negative risk of telling true replies from unlabelled ones, over a whole fold (Kiryo et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from parlai.core.metrics import Metric


class NnpuRisk(Metric):
    """The risk of the replies accumulated so far; the mean of batches' risks would depend on the batch size.

    :param true: the probabilities that a judge gives true replies, 0..1; ``others``: those that it gives unlabelled
        ones.
    :param prior: the share of unlabelled replies that are positive, 0..1.
    """

    __slots__ = ("counts", "prior", "totals")

    def __init__(self, true: Sequence[float], others: Sequence[float], prior: float) -> None:
        self.totals = np.array([sum(true), sum(others)])
        self.counts = np.array([len(true), len(others)])
        self.prior = prior

    def __add__(self, other: NnpuRisk | None) -> NnpuRisk:
        if other is None:
            return self
        both = NnpuRisk((), (), self.prior)
        both.totals, both.counts = self.totals + other.totals, self.counts + other.counts
        return both

    @property
    def macro_average(self) -> bool:
        """Whether several tasks are reported as the mean of their values."""
        return True

    def value(self) -> float:
        """At least 0; that of :func:`parlai_empathy.modules.classifiers.losses.nnpu_risk` for all replies at once."""
        true, others = (self.totals / self.counts.clip(min=1)).tolist()
        if not self.counts[0]:
            return float(others)
        missed = self.prior * (1 - true)
        return float(missed + max(others - self.prior * true, 0.0) if self.counts[1] else missed)
