"""Context and reply read apart, by one encoder: what their vectors have in common decides."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.pair_encoder import TextReader

# What a single logit begins with, before anything is trained: SCALE * cosine + OFFSET. Encoders that were made for
# comparing texts, as the default one was, then tell relevant replies from others already (docs/results.md).
SCALE, OFFSET = 10.0, -2.0


class TwinEncoder(TextReader):
    """Context and reply through the same encoder, then ``[u * v; v]`` through one linear layer.

    u and v are the vectors of context and reply, brought to a length at which their numbers are about 1. Their product
    holds the cosine's parts; v alone says what kind of reply it is. (Reimers and Gurevych 2019, section 3, with the
    product in place of the difference, because it is what their encoders are compared by.)

    :param outputs: how many numbers come out for each pair.
    """

    def __init__(self, encoder: Any, outputs: int, pooling: str) -> None:
        super().__init__(encoder, pooling)
        size = encoder.config.hidden_size
        self.head = nn.Linear(2 * size, outputs)
        if outputs == 1:
            with torch.no_grad():
                self.head.weight[:, :size] = SCALE / size
                self.head.weight[:, size:] = 0
                self.head.bias.fill_(OFFSET)

    def forward(self, tokens: Tensor, segments: Tensor, lengths: Tensor, contexts: Tensor, replies: Tensor) -> Tensor:
        """Read different texts once, and compare pairs of them.

        :param tokens: ``(texts, length)`` ids, padded on the right; so are ``segments``. ``lengths``: ``(texts,)``.
        :param contexts: ``(n,)``, which text is each pair's context; -1 for a reply that stands alone.
        :param replies: ``(n,)``, which text is its reply.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.features(tokens, segments, lengths, contexts, replies))
        return logits

    def features(self, tokens: Tensor, segments: Tensor, lengths: Tensor, contexts: Tensor, replies: Tensor) -> Tensor:
        """What the head reads of the same, ``(n, 2 * dim)``. Dropout is of the vectors, before they are compared."""
        vectors = nn.functional.normalize(self.vectors(tokens, segments, lengths), dim=1)
        vectors = self.dropout(vectors * vectors.size(1) ** 0.5)
        u, v = vectors[contexts], vectors[replies]
        products = torch.where(contexts.unsqueeze(1) < 0, 0.0, u * v)
        return torch.cat([products, v], dim=1)
