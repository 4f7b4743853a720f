"""The paper's text encoder: a Transformer with mean pooling over the tokens."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlai_empathy.modules.pooling import masked_mean, scaled_to_length
from parlai_empathy.modules.speed.dropout import dropped
from parlai_empathy.modules.speed.embedding_lookup import looked_up_together
from parlai_empathy.modules.speed.length_buckets import length_buckets


class TransformerEncoder(nn.Module):
    """A Transformer that encodes each text as one vector (Rashkin et al. 2019, section 4.1; Vaswani et al. 2017).

    Word embeddings times the square root of their size, plus fixed sinusoidal positions; ``n_layers`` post-norm layers
    with ReLU; no output projection. The embedding is passed in, because the paper's two towers share it.

    :param embedding: ``(vocabulary, dim)``; its ``padding_idx`` is the id of padding.
    :param n_positions: maximum number of tokens per text.
    :param length: the Euclidean length that vectors are scaled to; None leaves them unchanged.
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
        self.dropout = dropout
        # Not torch's `TransformerEncoder`: it copies one layer, so all layers would start with the same weights.
        self.layers = nn.ModuleList(
            EncoderLayer(dim, n_heads, dim_feedforward=ffn_size, dropout=dropout, batch_first=True)
            for _ in range(n_layers)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode texts.

        :param tokens: ``(batch, length)``, padded on the right, at least one token per row.
        :returns: ``(batch, dim)``
        """
        if _on_gpu(tokens):
            return self._encode(tokens)
        lengths = (tokens != self.pad).sum(dim=1)
        chunks = length_buckets(lengths)
        if len(chunks) == 1:
            return self._encode(tokens)
        texts = [tokens[rows, : int(lengths[rows].max())] for rows in chunks]
        with looked_up_together(self.embedding, texts):
            vectors = torch.cat([self._encode(text) for text in texts])
        return vectors[torch.cat(chunks).argsort()]

    def _encode(self, tokens: Tensor) -> Tensor:
        mask = tokens == self.pad  # (batch, length)
        words = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        states = dropped(words + self.positions[: tokens.size(1)], self.dropout, self.training)  # (batch, length, dim)
        # A GPU is given all texts at once, which have much padding: in training, the layers compute true tokens alone.
        where = None
        if _on_gpu(tokens) and (self.training or torch.is_grad_enabled()):
            where = (~mask).flatten().nonzero().squeeze(1)
            states = states.flatten(0, 1)[where]
        for layer in self.layers:
            states = layer(states, src_key_padding_mask=mask, where=where)
        if where is not None:
            states = _spread(states, where, mask)
        return scaled_to_length(self.length, masked_mean(states, ~mask))


class EncoderLayer(nn.TransformerEncoderLayer):
    """Torch's post-norm layer with ReLU, made faster to train.

    On a CPU the backward pass of torch's own attention takes five to eight times as long in bfloat16 as in single
    precision; queries, keys and values each fill a gradient tensor for all three; and dropout is limited by the random
    number generator. On a GPU its fast attention does not support the paper's heads of 50 numbers.
    """

    def forward(  # type: ignore[override]
        self, src: Tensor, *, src_key_padding_mask: Tensor, where: Tensor | None = None
    ) -> Tensor:
        """Apply the layer.

        :param src: ``(batch, length, dim)``; or ``(tokens, dim)``, the true tokens alone.
        :param src_key_padding_mask: ``(batch, length)``; True is padding.
        :param where: ``(tokens,)``, the places of the true tokens in ``(batch * length)``, if they are alone.
        :returns: the same shape as ``src``.
        """
        # In training mode also without gradients, so that gradient caching draws the same dropout in both its passes.
        if not (self.training or torch.is_grad_enabled()):
            read: Tensor = super().forward(src, src_key_padding_mask=src_key_padding_mask)
            return read
        states = self.norm1(src + self._dropped(self._attended(src, src_key_padding_mask, where)))
        hidden = self._dropped(F.relu(self.linear1(states)))
        return self.norm2(states + self._dropped(self.linear2(hidden)))  # type: ignore[no-any-return]

    def _attended(self, states: Tensor, padding: Tensor, where: Tensor | None) -> Tensor:
        attention, (batch, length), dim = self.self_attn, padding.shape, states.size(-1)
        together = F.linear(states, attention.in_proj_weight, attention.in_proj_bias)
        if where is not None:
            together = _spread(together, where, padding)
        queries, keys, values = (
            part.view(batch, length, attention.num_heads, attention.head_dim).transpose(1, 2)
            for part in together.chunk(3, dim=-1)
        )  # (batch, heads, length, dim of a head)
        scores = (queries / math.sqrt(attention.head_dim)) @ keys.transpose(-1, -2)  # (batch, heads, length, length)
        weights = scores.masked_fill(padding[:, None, None], -math.inf).softmax(dim=-1)
        mixed = (self._dropped(weights) @ values).transpose(1, 2).reshape(batch, length, dim)
        if where is not None:
            mixed = mixed.flatten(0, 1)[where]
        return attention.out_proj(mixed)  # type: ignore[no-any-return]

    def _dropped(self, states: Tensor) -> Tensor:
        return dropped(states, self.dropout.p, self.training)


def _on_gpu(tokens: Tensor) -> bool:
    return tokens.device.type != "cpu"


def _spread(states: Tensor, where: Tensor, padding: Tensor) -> Tensor:
    """Return the states of true tokens at their places, ``(batch, length, dim)``; zeros for padding.

    :param states: ``(tokens, dim)``
    :param where: ``(tokens,)``, places in ``(batch * length)``.
    :param padding: ``(batch, length)``
    """
    wide = states.new_zeros(padding.numel(), states.size(-1))
    return wide.index_copy(0, where, states).view(*padding.shape, -1)


def sinusoids(length: int, dim: int) -> Tensor:
    """Return fixed position embeddings (Vaswani et al. 2017, section 3.5): sines in even columns, cosines in odd ones.

    :returns: ``(length, dim)``
    """
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, dim, 2, dtype=torch.float32) * (-math.log(10000.0) / dim))
    table = torch.zeros(length, dim)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency[: dim // 2])
    return table
