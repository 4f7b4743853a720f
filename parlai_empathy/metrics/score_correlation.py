"""Correlation of a judge's scores with people's ratings, as a metric in ParlAI's reports."""

from __future__ import annotations

import math
from collections.abc import Sequence

from parlai.core.metrics import Metric
from parlai.utils.misc import warn_once

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature
from parlai_empathy.statistics.correlation import coefficient


class ScoreCorrelation(Metric):
    """The correlation of the scores and ratings accumulated so far.

    :param kind: one of :data:`parlai_empathy.statistics.correlation.KINDS`.
    :param scores: the judge's scores.
    :param ratings: people's mean rating of each item, in the same order.
    """

    __slots__ = ("kind", "ratings", "scores", "split")

    def __init__(self, kind: str, scores: Sequence[float], ratings: Sequence[float], split: str | None = None) -> None:
        self.kind = kind
        self.scores = tuple(scores)
        self.ratings = tuple(ratings)
        self.split = split

    def __add__(self, other: ScoreCorrelation | None) -> ScoreCorrelation:
        if other is None:
            return self
        return ScoreCorrelation(self.kind, self.scores + other.scores, self.ratings + other.ratings, self.split)

    @property
    def macro_average(self) -> bool:
        """Whether several tasks are reported as the mean of their values."""
        return True

    def value(self) -> float:
        """-1..1, or NaN with a warning if it cannot be computed."""
        try:
            return coefficient(self.kind, self.scores, self.ratings)
        except NotComputableError as error:
            warn_once(str(error))
            return math.nan

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature(self.kind, n=len(self.scores), split=self.split)
