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


def like_lengths(lengths: Tensor) -> list[Tensor]:
    """Put texts into chunks to be read one after another. On a GPU they are one chunk, in their order.

    :param lengths: ``(n,)``, how many tokens each text has, at least 1; on the device that reads them.
    :returns: the places of each chunk's texts, ``(chunk,)`` each; on a CPU the shortest texts first.
    """
    if lengths.device.type != "cpu" or len(lengths) <= 1:
        return [torch.arange(len(lengths), device=lengths.device)]
    order = lengths.argsort(stable=True)
    chunks, start = [], 0
    for end, length in enumerate(lengths[order].tolist()):
        if start < end and (end + 1 - start) * length > CPU_TOKENS:
            chunks.append(order[start:end])
            start = end
    return [*chunks, order[start:]]
