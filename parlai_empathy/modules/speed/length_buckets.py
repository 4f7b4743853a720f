"""Chunks of texts of similar length, so that there is little padding, of the size that a processor is fastest at."""

from __future__ import annotations

import torch
from torch import Tensor

CPU_TOKENS = 2048
"""Maximum number of tokens per chunk on a CPU, padding included.

With fewer, matrix products are small and Python's overhead is large. With many more, a feed-forward layer's activations
exceed 32 MB, up to which the C library reuses freed memory: beyond it, each operation gets its memory anew from the
system, page by page, which takes longer than the operation itself.
"""

GPU_TOKENS = 32_768
"""The same on a GPU: fewer do not keep it busy, and starting its work takes as long as the work itself."""


def length_buckets(
    lengths: Tensor, beside: Tensor | None = None, most: int | None = None, gpu_tokens: int = GPU_TOKENS
) -> list[Tensor]:
    """Split texts into chunks of similar length.

    :param lengths: ``(n,)``, the number of tokens of each text, at least 1; on the model's device.
    :param beside: ``(n,)``, the number of tokens of a second text that is processed together with each. Then chunks
        have similar lengths of both, with the first texts' lengths rounded up to a multiple of 8.
    :param most: maximum number of texts per chunk on a CPU; None for no limit.
    :param gpu_tokens: maximum number of tokens per chunk on a GPU, padding included.
    :returns: the indices of each chunk's texts, ``(chunk,)`` each, the shortest texts first; on a GPU, texts that fit
        into one chunk stay in their order.
    """
    if len(lengths) <= 1:
        return [torch.arange(len(lengths), device=lengths.device)]
    limit, most = (CPU_TOKENS, most) if lengths.device.type == "cpu" else (gpu_tokens, None)
    if beside is None:
        order, tokens = lengths.argsort(stable=True), lengths
    else:
        rounded = -(-lengths // 8) * 8
        order, tokens = (rounded * (beside.max() + 1) + beside).argsort(stable=True), rounded + beside
    chunks, start, longest = [], 0, 0
    for end, length in enumerate(tokens[order].tolist()):
        longest = max(longest, length)
        if start < end and ((end + 1 - start) * longest > limit or end - start == most):
            chunks.append(order[start:end])
            start, longest = end, length
    if not chunks and lengths.device.type != "cpu":
        return [torch.arange(len(lengths), device=lengths.device)]
    return [*chunks, order[start:]]
