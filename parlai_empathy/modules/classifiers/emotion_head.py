"""The head that predicts the emotion of a context from its vector (Rashkin et al. 2019, section 4)."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

DROPOUT = 0.2  # the paper's


class EmotionHead(nn.Module):
    """Dropout and one linear layer. With size 300 and 32 emotions it has 9,632 parameters (the paper's "+9.6k").

    :param dim: size of the vectors.
    :param emotions: number of emotions.
    """

    def __init__(self, dim: int, emotions: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(DROPOUT)
        self.linear = nn.Linear(dim, emotions)

    def forward(self, vectors: Tensor) -> Tensor:
        """Compute the logits: ``(n, dim)`` to ``(n, emotions)``."""
        logits: Tensor = self.linear(self.dropout(vectors))
        return logits


def keep_own_head(weights: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Adapt another model's weights to a model that differs only in its head.

    A head that is missing or has another shape is replaced by the model's own; if the model has no head, it is dropped.

    :param weights: the weights to load; their model's head, if it has one, is called ``emotion_head``.
    :param own: the weights of the model that loads them.
    """
    fits = {
        name: values
        for name, values in weights.items()
        if not _is_head_weight(name) or (name in own and own[name].shape == values.shape)
    }
    return fits | {name: values for name, values in own.items() if _is_head_weight(name) and name not in fits}


def _is_head_weight(name: str) -> bool:
    return name.startswith("emotion_head.")
