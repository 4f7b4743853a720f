"""Which texts to read together: those of like length, so that little is padding, as many as a CPU computes fastest."""

from __future__ import annotations

import torch
from torch import Tensor

CPU_TOKENS = 2048
"""Tokens that a CPU reads at once, padding included.

With fewer, matrix products are small and Python's part is large. With many more, what a feed-forward layer makes of
them exceeds the 32 MB up to which the C library keeps memory at hand: then the system hands it out anew, page by page,
for each operation, which takes longer than the operation itself.
"""


def like_lengths(lengths: Tensor, beside: Tensor | None = None, most: int | None = None) -> list[Tensor]:
    """Put texts into chunks to be read one after another. On a GPU they are one chunk, in their order.

    :param lengths: ``(n,)``, how many tokens each text has, at least 1; on the device that reads them.
    :param beside: ``(n,)``, how many a second text has that each is read with. Then these are alike in a chunk, too:
        the first ones count as long as the next multiple of 8.
    :param most: how many texts a chunk may have; None leaves it to their lengths.
    :returns: the places of each chunk's texts, ``(chunk,)`` each; on a CPU the shortest texts first.
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
