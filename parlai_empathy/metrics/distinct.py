"""Dist-n: the share of different n-grams among all n-grams of the replies (Li et al. 2016, section 5.2).

Over the whole corpus, times 100, as the papers from MoEL to CASE give it. (Others average over single replies, which
makes far larger numbers.) The more replies there are, the smaller it is: compare numbers of equally many alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from parlai.core.metrics import Metric
from parlai.utils.misc import warn_once

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.signature import signature

ORDERS = (1, 2)


def distinct(replies: Iterable[Sequence[str]], order: int) -> float:
    """The share of different ``order``-grams in tokenised replies, 0..100.

    :raises NotComputableError: if no reply has ``order`` tokens.
    """
    ngrams = [tuple(tokens[i : i + order]) for tokens in replies for i in range(len(tokens) - order + 1)]
    if not ngrams:
        raise NotComputableError(f"Dist-{order}: no reply has {order} token(s)")
    return 100 * len(set(ngrams)) / len(ngrams)


def distinct_of_one(tokens: Sequence[str], order: int) -> float | None:
    """The share of different ``order``-grams in one reply, 0..1; None if it has no ``order`` tokens.

    Averaged over replies it is what Lee et al. (2022) report as Dist-n: far more than of the corpus, since a short
    reply seldom repeats itself.
    """
    ngrams = [tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1)]
    return len(set(ngrams)) / len(ngrams) if ngrams else None


class Distinct(Metric):
    """Dist-n of the replies added up so far.

    :param order: 1 for words, 2 for pairs of them.
    :param replies: tokenised.
    :param tokens: the tokeniser's name, for the signature.
    :param decoding: how the replies were made, for the signature.
    """

    __slots__ = ("decoding", "order", "replies", "split", "tokens")

    def __init__(
        self,
        order: int,
        replies: Sequence[Sequence[str]],
        tokens: str,
        decoding: str | None = None,
        split: str | None = None,
    ) -> None:
        self.order = order
        self.replies = tuple(replies)
        self.tokens = tokens
        self.decoding = decoding
        self.split = split

    def __add__(self, other: Distinct | None) -> Distinct:
        if other is None:
            return self
        return Distinct(self.order, self.replies + other.replies, self.tokens, self.decoding, self.split)

    @property
    def macro_average(self) -> bool:
        """Over several tasks: the mean of the tasks' numbers."""
        return True

    def value(self) -> float:
        """0..100, or NaN with a warning where no reply is long enough."""
        try:
            return distinct(self.replies, self.order)
        except NotComputableError as error:
            warn_once(str(error))
            return math.nan

    @property
    def signature(self) -> str:
        """What decided the number."""
        return signature(
            f"Dist-{self.order}",
            level="corpus",
            tokens=self.tokens,
            decoding=self.decoding,
            n=len(self.replies),
            split=self.split,
        )
