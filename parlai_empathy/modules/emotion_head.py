"""The layer that tells the emotion of a context from its vector (Rashkin et al. 2019, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

DROPOUT = 0.2  # the paper's


class EmotionHead(nn.Module):
    """Dropout and one linear layer. Of 300 numbers and 32 emotions it has 9,632 parameters (the paper's "+9.6k").

    :param dim: how many numbers a vector has.
    :param emotions: how many there are to tell apart.
    """

    def __init__(self, dim: int, emotions: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(DROPOUT)
        self.linear = nn.Linear(dim, emotions)

    def forward(self, vectors: Tensor) -> Tensor:
        """Logits: ``(n, dim)`` to ``(n, emotions)``."""
        logits: Tensor = self.linear(self.dropout(vectors))
        return logits


def with_own_head(weights: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Another model's weights for a model that is like it but for the head: that one stays the model's own, or away.

    :param weights: of a model that calls its head ``emotion_head``, or has none.
    :param own: of the model that shall begin with them.
    """
    fits = {
        name: values
        for name, values in weights.items()
        if not _is_of_head(name) or (name in own and own[name].shape == values.shape)
    }
    return fits | {name: values for name, values in own.items() if _is_of_head(name) and name not in fits}


def _is_of_head(name: str) -> bool:
    return name.startswith("emotion_head.")
