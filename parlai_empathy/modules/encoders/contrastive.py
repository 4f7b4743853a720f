"""The contrastive loss over a batch's replies: those of one process, or of all processes."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F


def contrastive_losses(
    contexts: Tensor, replies: Tensor, negatives: Tensor | None = None, symmetric: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the cross-entropy of each context's true reply among all replies (Rashkin et al. 2019, section 4.1).

    With several processes, the replies of all of them are candidates.

    :param contexts: ``(n, dim)``
    :param replies: ``(n, dim)``, the true ones.
    :param negatives: ``(m, dim)``, additional wrong replies.
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
    """Return the rows of all processes, ordered by rank, and the index of this process's first row.

    Gradients flow back to the process that each row came from, summed over the processes. The average over processes
    (``DistributedDataParallel``) is then the gradient of the mean over the global batch, provided that all processes
    have batches of the same size; only the last ones of an epoch may differ.
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
        # all_gather needs equal shapes, but the last batch of a process may be smaller.
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
