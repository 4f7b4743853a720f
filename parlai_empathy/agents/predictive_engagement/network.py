"""The network of Predictive Engagement: the mean of a frozen encoder's vectors of two texts, and a small MLP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.encoders.pair_encoder import TextReader
from parlai_empathy.modules.pooling import masked_mean, token_mask

POOLINGS = ("mean", "max")


class FrozenReader(TextReader):
    """Encodes texts with a frozen encoder; a text's vector is the mean or maximum of one layer's token states.

    :param encoder: a Hugging Face encoder.
    :param pooling: one of :data:`POOLINGS`, over all tokens except padding.
    :param layer: index of the layer, counted from the end: -1 is the last.
    """

    def __init__(self, encoder: Any, pooling: str, layer: int) -> None:
        super().__init__(encoder, pooling)
        self.layer = layer
        self.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> FrozenReader:
        """Stay in evaluation mode: with dropout, a text's vector would differ each time."""
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
    """The mean of two texts' vectors, passed through tanh layers with dropout, then a linear layer.

    :param reader: computes the vectors; it is frozen and called separately, so that each text is encoded only once.
    :param hidden: units of each layer.
    :param outputs: number of logits per pair.
    :param dropout: after each layer, 0..1.
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
        """The reader's encoder."""
        return self.reader.encoder

    def forward(self, queries: Tensor, replies: Tensor) -> Tensor:
        """Return the logits of pairs.

        :param queries: vectors of the texts replied to, ``(n, dim)``; ``replies`` likewise.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.features(queries, replies))
        return logits

    def features(self, queries: Tensor, replies: Tensor) -> Tensor:
        """Return the inputs of the head, ``(n, units of the last layer)``; parameters as for :meth:`forward`."""
        vectors = (queries + replies) / 2
        for layer in self.layers:
            vectors = self.dropout(torch.tanh(layer(vectors)))
        return vectors
