"""The network of Predictive Engagement: a frozen encoder's vectors of two texts, their mean, and a small MLP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.pair_encoder import TextReader
from parlai_empathy.modules.pooling import masked_mean, token_mask

POOLINGS = ("mean", "max")


class FrozenReader(TextReader):
    """Texts through an encoder that does not learn, and one vector of each: the mean or maximum of a layer's states.

    :param encoder: a Hugging Face encoder.
    :param pooling: one of :data:`POOLINGS`, over all tokens but padding.
    :param layer: whose states, counted from the end: -1 is the last layer.
    """

    def __init__(self, encoder: Any, pooling: str, layer: int) -> None:
        super().__init__(encoder, pooling)
        self.layer = layer
        self.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> FrozenReader:
        """Stay as in use: with dropout, a text's vector would be another each time."""
        return super().train(False)

    def _read(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        keep = token_mask(lengths, tokens.size(1))
        inputs = {"input_ids": tokens, "attention_mask": keep.long(), "output_hidden_states": True}
        if self.has_segments:
            inputs["token_type_ids"] = segments
        states: Tensor = self.encoder(**inputs).hidden_states[self.layer].float()  # (n, length, dim)
        if self.pooling == "mean":
            return masked_mean(states, keep)
        return states.masked_fill(~keep.unsqueeze(2), -torch.inf).amax(dim=1)


class EngagementNetwork(nn.Module):
    """The mean of two texts' vectors through layers with tanh and dropout, then one linear layer.

    :param reader: makes the vectors; it is no part of what learns, and is called by itself, so that the vector of a
        text has to be computed only once.
    :param hidden: units of each layer.
    :param outputs: how many numbers come out for each pair.
    :param dropout: behind each layer, 0..1.
    """

    def __init__(self, reader: FrozenReader, hidden: Sequence[int], outputs: int, dropout: float) -> None:
        super().__init__()
        self.reader = reader
        sizes = [reader.encoder.config.hidden_size, *hidden]
        self.layers = nn.ModuleList(nn.Linear(size, units) for size, units in zip(sizes, hidden, strict=False))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(sizes[-1], outputs)

    @property
    def encoder(self) -> Any:
        """The reader's."""
        return self.reader.encoder

    def forward(self, queries: Tensor, replies: Tensor) -> Tensor:
        """Judge pairs.

        :param queries: ``(n, dim)``, the vectors of what is replied to; so are those of the ``replies``.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.features(queries, replies))
        return logits

    def features(self, queries: Tensor, replies: Tensor) -> Tensor:
        """What the head reads of the same, ``(n, units of the last layer)``."""
        vectors = (queries + replies) / 2
        for layer in self.layers:
            vectors = self.dropout(torch.tanh(layer(vectors)))
        return vectors
