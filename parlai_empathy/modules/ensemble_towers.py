"""Two frozen encoders of a text, brought together by one linear layer (Rashkin et al. 2019, section 4.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from parlai_empathy.modules.biencoder import TwoTowers
from parlai_empathy.modules.pooling import brought_to


class Projection(nn.Module):
    """A base encoder's vectors and a classifier's features, in one row, to vectors of the base's size.

    It begins with the base's vectors as they are; or with random weights, as in the paper.

    :param dim: how many numbers the base's vectors have.
    :param features: how many the classifier's have.
    :param is_random: how it begins.
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
    """A projection whose vectors are brought to a length; None leaves them as they are."""

    def __init__(self, dim: int, features: int, is_random: bool, length: float | None) -> None:
        super().__init__(dim, features, is_random)
        self.length = length

    def forward(self, rows: Tensor) -> Tensor:
        """``(n, dim + features)`` to ``(n, dim)``"""
        return brought_to(self.length, super().forward(rows))


class EnsembleTowers(TwoTowers):
    """A projection for contexts and one for replies: what of an ensemble learns.

    :param length: of the base's vectors, if they all have the same.
    """

    def __init__(self, dim: int, features: int, is_random: bool, length: float | None) -> None:
        sides = (ScaledProjection(dim, features, is_random, length) for _ in range(2))
        super().__init__(next(sides), next(sides), dim)
