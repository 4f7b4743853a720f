"""P@k,100: how often the true reply is among the best k of 100 candidates (Rashkin et al. 2019, section 5.1).

Where do the other 99 come from? The paper does not say; three protocols are in use, up to a dozen points apart:

``shuffled``
    The fold in random order, split into blocks of 100; the candidates are the block's true replies.
``ordered``
    The same in the file's order: turns of a conversation become each other's candidates (the hardest protocol).
``inline``
    The 100 candidates that the data set gives for each example.

The first two drop a last, shorter block, as the paper's code does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from parlai.core.metrics import AverageMetric, Metric
from parlai.utils.misc import warn_once
from torch import Tensor

from parlai_empathy.errors import NotComputableError
from parlai_empathy.signature import signature

BLOCK = 100
CUTOFFS = (1, 3, 10)
SHUFFLE_SEED = 42


def key(k: int, protocol: str) -> str:
    """Return the metric's key in ParlAI's reports."""
    return f"p_at_{k}_{BLOCK}_{protocol}"


def true_ranks(scores: Tensor, true: Tensor) -> Tensor:
    """Return the rank of each row's true candidate, from 1. Among equal scores the earlier candidate ranks higher.

    NaN scores count against the model; otherwise a model that has diverged would always seem right.

    :param scores: ``(n, candidates)``
    :param true: ``(n,)`` indices of the true candidates.
    :returns: ``(n,)``
    """
    of_true = scores.gather(1, true.unsqueeze(1))  # (n, 1)
    later = torch.arange(scores.size(1), device=scores.device) > true.unsqueeze(1)
    beaten = (scores < of_true).sum(dim=1) + ((scores == of_true) & later).sum(dim=1)
    return scores.size(1) - beaten


def block_ranks(contexts: Tensor, replies: Tensor, protocol: str, block: int = BLOCK) -> Tensor:
    """Return the rank of each true reply among those of its block, by dot product.

    :param contexts: ``(n, dim)`` in the fold's order.
    :param replies: ``(n, dim)``, the true replies.
    :param protocol: ``shuffled`` or ``ordered``.
    :returns: ``(n // block * block,)``
    :raises NotComputableError: if there are fewer examples than one block.
    """
    if len(contexts) < block:
        raise NotComputableError(f"P@k,{block} needs at least {block} examples, but got {len(contexts)}")
    order = block_order(len(contexts), protocol, block)
    scores = contexts[order].view(-1, block, contexts.size(1)) @ replies[order].view(-1, block, replies.size(1)).mT
    return true_ranks(scores.flatten(0, 1), torch.arange(block).repeat(len(scores)))


def block_order(total: int, protocol: str, block: int = BLOCK) -> Tensor:
    """Return the fold's positions in the order in which they are split into blocks, ``(total // block * block,)``."""
    order = torch.arange(total)
    if protocol == "shuffled":
        order = torch.randperm(total, generator=torch.Generator().manual_seed(SHUFFLE_SEED))
    return order[: total // block * block]


def precision_at(k: int, ranks: Tensor) -> float:
    """Return the share of ranks up to ``k``, 0..1. Raises :class:`NotComputableError` if there are no ranks."""
    if len(ranks) == 0:
        raise NotComputableError(f"P@{k}: there are no examples")
    return (ranks <= k).double().mean().item()


@dataclass(frozen=True)
class EncodedExamples:
    """Encodings of a batch, and its examples' positions in the fold.

    ``positions``: ``(n,)``; ``contexts`` and ``replies``: ``(n, dim)``.

    :param order: see :mod:`~.example_order`.
    """

    positions: Tensor
    contexts: Tensor
    replies: Tensor
    order: str | None = None


class BlockPrecision(Metric):
    """P@k,100 under ``shuffled`` or ``ordered``. It accumulates encodings, and computes the value from all of them."""

    __slots__ = ("batches", "k", "protocol", "score", "split")

    def __init__(
        self,
        k: int,
        protocol: str,
        batches: tuple[EncodedExamples, ...],
        score: str | None = None,
        split: str | None = None,
    ) -> None:
        self.k = k
        self.protocol = protocol
        self.batches = batches
        self.score = score
        self.split = split

    def __add__(self, other: BlockPrecision | None) -> BlockPrecision:
        if other is None:
            return self
        return BlockPrecision(self.k, self.protocol, self.batches + other.batches, self.score, self.split)

    @property
    def macro_average(self) -> bool:
        """Whether several tasks are reported as the mean of their values."""
        return True

    def value(self) -> float:
        """0..1, or NaN with a warning for fewer than 100 examples."""
        try:
            return precision_at(self.k, self._ranks())
        except NotComputableError as error:
            warn_once(str(error))
            return math.nan

    def _ranks(self) -> Tensor:
        order = torch.cat([batch.positions for batch in self.batches]).argsort()
        contexts = torch.cat([batch.contexts for batch in self.batches])
        replies = torch.cat([batch.replies for batch in self.batches])
        return block_ranks(contexts[order], replies[order], self.protocol)

    @property
    def signature(self) -> str:
        """How the number was computed."""
        examples = sum(len(batch.positions) for batch in self.batches)
        return signature(
            f"P@k,{BLOCK}",
            protocol=self.protocol,
            seed=SHUFFLE_SEED if self.protocol == "shuffled" else None,
            order=next((batch.order for batch in self.batches if batch.order), None),
            score=self.score,
            n=examples // BLOCK * BLOCK,
            split=self.split,
        )


def block_precisions(examples: EncodedExamples, score: str, split: str | None) -> dict[str, BlockPrecision]:
    """Return a batch's metrics under ``shuffled`` and ``ordered``, by their keys in reports."""
    return {
        key(k, protocol): BlockPrecision(k, protocol, (examples,), score, split)
        for protocol in ("shuffled", "ordered")
        for k in CUTOFFS
    }


class RankedPrecision(AverageMetric):
    """P@k,100 from given ranks, such as those among each example's own candidates."""

    __slots__ = ("candidates", "order", "protocol", "score", "split")

    def __init__(
        self,
        numer: float,
        denom: float = 1,
        protocol: str = "inline",
        score: str | None = None,
        candidates: str | None = None,
        split: str | None = None,
        order: str | None = None,
    ) -> None:
        super().__init__(numer, denom)
        self.order = order
        self.protocol = protocol
        self.score = score
        self.candidates = candidates
        self.split = split

    def __add__(self, other: AverageMetric | None) -> RankedPrecision:
        total = super().__add__(other)
        own = (self.protocol, self.score, self.candidates, self.split, self.order)
        return RankedPrecision(total._numer, total._denom, *own)

    @property
    def signature(self) -> str:
        """How the number was computed."""
        return signature(
            f"P@k,{BLOCK}",
            protocol=self.protocol,
            seed=SHUFFLE_SEED if self.protocol == "shuffled" else None,
            order=self.order,
            candidates=self.candidates,
            score=self.score,
            n=int(self._denom),
            split=self.split,
        )


def ranked_precisions(
    ranks: Tensor, protocol: str, score: str, candidates: str | None, split: str | None
) -> dict[str, list[RankedPrecision]]:
    """Return a batch's metrics, by their keys in reports.

    :param ranks: ``(n,)``, of the true replies among each example's 100 candidates.
    :param candidates: the source of the candidates, for the signature.
    """
    return {
        key(k, protocol): [RankedPrecision(rank <= k, 1, protocol, score, candidates, split) for rank in ranks.tolist()]
        for k in CUTOFFS
    }
