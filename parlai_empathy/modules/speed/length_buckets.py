"""Chunks of texts of similar length, so that there is little padding, of the size that a CPU processes fastest."""

from __future__ import annotations

import torch
from torch import Tensor

CPU_TOKENS = 2048
"""Maximum number of tokens per chunk on a CPU, padding included.

With fewer, matrix products are small and Python's overhead is large. With many more, a feed-forward layer's activations
exceed 32 MB, up to which the C library reuses freed memory: beyond it, each operation gets its memory anew from the
system, page by page, which takes longer than the operation itself.
"""


def length_buckets(lengths: Tensor, beside: Tensor | None = None, most: int | None = None) -> list[Tensor]:
    """Split texts into chunks of similar length. On a GPU all texts are one chunk, in their order.

    :param lengths: ``(n,)``, the number of tokens of each text, at least 1; on the model's device.
    :param beside: ``(n,)``, the number of tokens of a second text that is processed together with each. Then chunks
        have similar lengths of both, with the first texts' lengths rounded up to a multiple of 8.
    :param most: maximum number of texts per chunk; None for no limit.
    :returns: the indices of each chunk's texts, ``(chunk,)`` each; on a CPU the shortest texts first.
    """
    if lengths.device.type != "cpu" or len(lengths) <= 1:
        return [torch.arange(len(lengths), device=lengths.device)]
    if beside is None:
        order, tokens = lengths.argsort(stable=True), lengths
    else:
        rounded = -(-lengths // 8) * 8
        order, tokens = (rounded * (beside.max() + 1) + beside).argsort(stable=True), rounded + beside
    chunks, start, longest = [], 0, 0
    for end, length in enumerate(tokens[order].tolist()):
        longest = max(longest, length)
        if start < end and ((end + 1 - start) * longest > CPU_TOKENS or end - start == most):
            chunks.append(order[start:end])
            start, longest = end, length
    return [*chunks, order[start:]]
