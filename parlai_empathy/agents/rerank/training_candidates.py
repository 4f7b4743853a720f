"""Training candidates of a reranker: each true reply, and the wrong ones of a block that its retriever scores highest.

In use the reranker sees just these: the best few of what a retriever found. The best of all training replies would not
do, because nearly all of them are more similar to the context than the true reply: from such negatives the model would
learn to choose what is least similar to the context.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from parlai_empathy.metrics.precision_at_k import BLOCK


def block_of(batch: Sequence[str], replies: Sequence[str], draw: random.Random) -> list[str]:
    """Return the distinct replies of a batch plus random others: a hundred, as in P@k,100, or more for larger batches.

    :param batch: the true replies of a batch's examples.
    :param replies: all distinct replies of the training data.
    """
    block = list(dict.fromkeys(batch))
    others = draw.sample(replies, min(BLOCK, len(replies)))  # enough even if all of the batch's are drawn
    known = set(block)
    return block + [reply for reply in others if reply not in known][: max(0, BLOCK - len(block))]


def hard_candidates(scores: Tensor, is_true: Tensor, true: Tensor, count: int) -> Tensor:
    """Return the indices of each example's true reply and the highest-scored wrong ones, ``(n, 1 + count)``.

    :param scores: the retriever's scores of the block's replies, ``(n, block)``.
    :param is_true: which of them are correct, ``(n, block)``; each row has at least ``count`` that are not.
    :param true: index of the reply used as the true one, ``(n,)``.
    """
    wrong = scores.masked_fill(is_true, -torch.inf).topk(count, dim=1).indices
    return torch.cat([true.unsqueeze(1), wrong], dim=1)
