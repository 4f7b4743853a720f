"""From the states of a text's tokens to one vector: which places count, their mean, and the vector's length."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def token_mask(lengths: Tensor, longest: int) -> Tensor:
    """Which places of padded texts hold tokens, ``(n, longest)``.

    :param lengths: ``(n,)``, how many tokens each text has.
    """
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)


def masked_mean(states: Tensor, keep: Tensor) -> Tensor:
    """The mean of the kept states: ``(batch, length, dim)`` and ``(batch, length)`` to ``(batch, dim)``."""
    weights = keep.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def brought_to(length: float | None, vectors: Tensor) -> Tensor:
    """Vectors ``(n, dim)`` with this Euclidean length; None leaves them as they are."""
    return vectors if length is None else F.normalize(vectors, dim=1) * length
