"""The paper's text encoder: a Transformer whose masked mean over the tokens is the text's vector."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from parlai_empathy.modules.looking_up import looked_up_at_once

# A CPU's time goes with the number of tokens, padding included: texts of like length go together, so many at a time.
_CPU_CHUNK = 16


class TransformerEncoder(nn.Module):
    """Token ids in, one vector a text out (Rashkin et al. 2019, section 4.1; Vaswani et al. 2017).

    Word embeddings times the root of their size, plus fixed sinusoidal positions; ``n_layers`` post-norm layers with
    ReLU; no output projection. The embedding is handed in, because the paper's two towers share it.

    :param embedding: ``(vocabulary, dim)``; its ``padding_idx`` says which id is padding.
    :param n_positions: the longest text, in tokens.
    :param length: the Euclidean length that every vector is brought to; None leaves them as they are.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        *,
        n_layers: int,
        n_heads: int,
        ffn_size: int,
        dropout: float,
        n_positions: int,
        length: float | None = None,
    ) -> None:
        super().__init__()
        dim = embedding.embedding_dim
        assert embedding.padding_idx is not None
        self.pad = embedding.padding_idx
        self.length = length
        self.embedding = embedding
        self.positions = nn.Parameter(sinusoids(n_positions, dim), requires_grad=False)
        self.dropout = nn.Dropout(dropout)
        # Not torch's `TransformerEncoder`: it copies one layer, so that all would begin with the same weights.
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, n_heads, dim_feedforward=ffn_size, dropout=dropout, batch_first=True)
            for _ in range(n_layers)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode texts.

        :param tokens: ``(batch, length)``, padded on the right, at least one token a row.
        :returns: ``(batch, dim)``
        """
        if tokens.device.type != "cpu" or len(tokens) <= _CPU_CHUNK:
            return self._encode(tokens)
        order = (tokens != self.pad).sum(dim=1).argsort(stable=True)  # shortest first
        texts = [self._cut(tokens[rows]) for rows in torch.split(order, _CPU_CHUNK)]
        with looked_up_at_once(self.embedding, texts):
            vectors = torch.cat([self._encode(text) for text in texts])
        return vectors[order.argsort()]

    def _cut(self, tokens: Tensor) -> Tensor:
        """Without the columns that are padding in every row."""
        return tokens[:, : int((tokens != self.pad).sum(dim=1).max())]

    def _encode(self, tokens: Tensor) -> Tensor:
        mask = tokens == self.pad  # (batch, length)
        words = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        states = self.dropout(words + self.positions[: tokens.size(1)])  # (batch, length, dim)
        for layer in self.layers:
            states = layer(states, src_key_padding_mask=mask)
        vectors = masked_mean(states, ~mask)
        return vectors if self.length is None else nn.functional.normalize(vectors, dim=1) * self.length


def masked_mean(states: Tensor, keep: Tensor) -> Tensor:
    """The mean of the kept states: ``(batch, length, dim)`` and ``(batch, length)`` to ``(batch, dim)``."""
    weights = keep.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def sinusoids(length: int, dim: int) -> Tensor:
    """Fixed positions (Vaswani et al. 2017, section 3.5): sines in the even columns, cosines in the odd ones.

    :returns: ``(length, dim)``
    """
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, dim, 2, dtype=torch.float32) * (-math.log(10000.0) / dim))
    table = torch.zeros(length, dim)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency[: dim // 2])
    return table
