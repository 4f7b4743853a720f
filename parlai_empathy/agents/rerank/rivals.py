"""What a reranker learns from: each true reply, and those that its retriever likes best of a hundred with it.

When it is used, it meets just these: the best few of what a retriever found. Of all replies of a training, the best
would nearly all be more like the context than the true one is; from such wrong replies the model would learn to choose
what is least like the context.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from parlai_empathy.metrics.precision_at_k import BLOCK


def block_of(batch: Sequence[str], replies: Sequence[str], draw: random.Random) -> list[str]:
    """The different replies of a batch, and others drawn from ``replies``: a hundred, as P@k,100 has, or more.

    :param batch: the true replies of a batch's examples.
    :param replies: all replies of the training, each once.
    """
    block = list(dict.fromkeys(batch))
    others = draw.sample(replies, min(BLOCK, len(replies)))  # as many as are missing, even if the batch's are drawn
    known = set(block)
    return block + [reply for reply in others if reply not in known][: max(0, BLOCK - len(block))]


def rivals(scores: Tensor, is_true: Tensor, true: Tensor, count: int) -> Tensor:
    """The places of each example's true reply and of the wrong ones with the highest scores, ``(n, 1 + count)``.

    :param scores: the retriever's, of the block's replies, ``(n, block)``.
    :param is_true: which of them would be right, ``(n, block)``; at least ``count`` of each row would not.
    :param true: the place of the reply that counts as the true one, ``(n,)``.
    """
    wrong = scores.masked_fill(is_true, -torch.inf).topk(count, dim=1).indices
    return torch.cat([true.unsqueeze(1), wrong], dim=1)
