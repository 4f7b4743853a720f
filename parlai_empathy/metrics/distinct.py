"""Dist-n: the share of distinct n-grams among all n-grams of the replies (Li et al. 2016, section 5.2).

Over the whole corpus, times 100, as in the papers from MoEL to CASE. (Others average over single replies, which gives
far larger values.) It falls as the number of replies grows: only compare values for the same number of replies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from parlai.core.metrics import Metric
from parlai.utils.misc import warn_once

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature

ORDERS = (1, 2)


def distinct(replies: Iterable[Sequence[str]], order: int) -> float:
    """Return the share of distinct ``order``-grams in tokenised replies, 0..100.

    :raises NotComputableError: if all replies have fewer than ``order`` tokens.
    """
    ngrams = [tuple(tokens[i : i + order]) for tokens in replies for i in range(len(tokens) - order + 1)]
    if not ngrams:
        raise NotComputableError(f"Dist-{order}: no reply has {order} token(s)")
    return 100 * len(set(ngrams)) / len(ngrams)


def distinct_of_one(tokens: Sequence[str], order: int) -> float | None:
    """Return the share of distinct ``order``-grams in one reply, 0..1; None if it has fewer than ``order`` tokens.

    Lee et al. (2022) report its mean over replies as Dist-n: far higher than over the corpus, since a short reply
    seldom repeats itself.
    """
    ngrams = [tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1)]
    return len(set(ngrams)) / len(ngrams) if ngrams else None


class Distinct(Metric):
    """Dist-n of the replies accumulated so far.

    :param order: 1 for words, 2 for word pairs.
    :param replies: tokenised replies.
    :param tokens: the tokeniser's name, for the signature.
    :param decoding: how the replies were generated, for the signature.
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
        """Whether several tasks are reported as the mean of their values."""
        return True

    def value(self) -> float:
        """0..100, or NaN with a warning if no reply is long enough."""
        try:
            return distinct(self.replies, self.order)
        except NotComputableError as error:
            warn_once(str(error))
            return math.nan

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature(
            f"Dist-{self.order}",
            level="corpus",
            tokens=self.tokens,
            decoding=self.decoding,
            n=len(self.replies),
            split=self.split,
        )
