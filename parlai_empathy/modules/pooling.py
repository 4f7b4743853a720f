"""Pooling of a text's hidden states into one vector: the token mask, the mean, and scaling to a length."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def token_mask(lengths: Tensor, longest: int) -> Tensor:
    """Return the mask of padded texts, ``(n, longest)``: True for tokens.

    :param lengths: ``(n,)``, the number of tokens of each text.
    """
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)


def masked_mean(states: Tensor, keep: Tensor) -> Tensor:
    """Return the mean of the kept states: ``(batch, length, dim)`` and ``(batch, length)`` to ``(batch, dim)``."""
    weights = keep.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def scaled_to_length(length: float | None, vectors: Tensor) -> Tensor:
    """Scale vectors ``(n, dim)`` to this Euclidean length; None leaves them unchanged."""
    return vectors if length is None else F.normalize(vectors, dim=1) * length
