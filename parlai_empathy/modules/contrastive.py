"""Learning to tell a context's own reply from others': the loss, over one process' batch or over all processes'."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F


def contrastive_losses(
    contexts: Tensor, replies: Tensor, negatives: Tensor | None = None, symmetric: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Softmax over the scores of each context with every reply there is (Rashkin et al. 2019, section 4.1).

    With several processes, the replies of all of them are there.

    :param contexts: ``(n, dim)``
    :param replies: ``(n, dim)``, the true ones.
    :param negatives: ``(m, dim)``, further wrong replies.
    :param symmetric: whether to average this with the loss from each reply to all contexts.
    :returns: losses ``(n,)``; scores ``(n, all replies)``; and the true reply's column of each row, ``(n,)``.
    """
    everyones, first = gather(replies)
    true = torch.arange(first, first + len(contexts), device=contexts.device)
    candidates = everyones if negatives is None else torch.cat([everyones, gather(negatives)[0]])
    scores = contexts @ candidates.T
    losses = F.cross_entropy(scores, true, reduction="none")
    if symmetric:
        losses = (losses + F.cross_entropy(replies @ gather(contexts)[0].T, true, reduction="none")) / 2
    return losses, scores, true


def gather(rows: Tensor) -> tuple[Tensor, int]:
    """The rows of all processes, in the processes' order, and where this one's begin.

    Gradients flow back to the process that each row is from: added up over the processes, whose own average
    (``DistributedDataParallel``) then is the gradient of the mean over the global batch, if all have batches of one
    size: only the last ones of an epoch may differ.
    """
    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return rows, 0
    counts = [torch.zeros(1, dtype=torch.long, device=rows.device) for _ in range(dist.get_world_size())]
    dist.all_gather(counts, torch.tensor([len(rows)], device=rows.device))
    numbers = [int(count) for count in counts]
    everyones: Tensor = _Gather.apply(rows, numbers)  # type: ignore[no-untyped-call]
    return everyones, sum(numbers[: dist.get_rank()])


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, counts: list[int]) -> Tensor:
        ctx.counts = counts
        # All processes must send as much: the last batch of one may be shorter.
        padded = rows.new_zeros(max(counts), *rows.shape[1:])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(parts, padded)
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        total = gradient.contiguous().clone()
        dist.all_reduce(total)
        first = sum(ctx.counts[: dist.get_rank()])
        return total[first : first + ctx.counts[dist.get_rank()]], None
