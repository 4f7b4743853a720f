"""Two frozen encoders of a text, combined by one linear layer (Rashkin et al. 2019, section 4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from parlai_empathy.modules.encoders.biencoder import TwoTowers
from parlai_empathy.modules.pooling import scaled_to_length


class Projection(nn.Module):
    """A projection of a base encoder's vectors, concatenated with a classifier's features, to the base's size.

    It starts by returning the base's vectors unchanged, or with random weights, as in the paper.

    :param dim: size of the base's vectors.
    :param features: number of the classifier's features.
    :param is_random: whether it starts with random weights.
    """

    def __init__(self, dim: int, features: int, is_random: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(dim + features, dim)
        if not is_random:
            with torch.no_grad():
                self.linear.weight.copy_(torch.eye(dim, dim + features))
                self.linear.bias.zero_()

    def forward(self, rows: Tensor) -> Tensor:
        """``(..., dim + features)`` to ``(..., dim)``"""
        vectors: Tensor = self.linear(rows.to(self.linear.weight.dtype))
        return vectors


class ScaledProjection(Projection):
    """A projection whose vectors are scaled to a Euclidean length; None leaves them unchanged."""

    def __init__(self, dim: int, features: int, is_random: bool, length: float | None) -> None:
        super().__init__(dim, features, is_random)
        self.length = length

    def forward(self, rows: Tensor) -> Tensor:
        """``(n, dim + features)`` to ``(n, dim)``"""
        return scaled_to_length(self.length, super().forward(rows))


class EnsembleTowers(TwoTowers):
    """A projection for contexts and one for replies: the trainable part of an ensemble.

    :param length: the Euclidean length of the base's vectors, if all have the same one; otherwise None.
    """

    def __init__(self, dim: int, features: int, is_random: bool, length: float | None) -> None:
        sides = (ScaledProjection(dim, features, is_random, length) for _ in range(2))
        super().__init__(next(sides), next(sides), dim)
