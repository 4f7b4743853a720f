"""A judge that encodes context and reply separately with the same encoder, and compares their vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.encoders.pair_encoder import TextReader

# A single logit is initially SCALE * cosine + OFFSET. With encoders made for comparing texts, such as the default one,
# this distinguishes relevant replies from others even before training (docs/results.md).
SCALE, OFFSET = 10.0, -2.0


class TwinEncoder(TextReader):
    """One encoder for context and reply, then a linear layer over ``[u * v; v]``.

    u and v are the vectors of context and reply, scaled so that their elements are about 1. The elements of the product
    are the terms of the cosine; v alone describes the kind of reply. (Reimers and Gurevych 2019, section 3, with the
    product instead of the difference, because their encoders are compared by cosine.)

    :param outputs: number of outputs per pair.
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
        """Encode each distinct text once, and compute the logits of pairs.

        :param tokens: ``(texts, length)`` ids, padded on the right; so are ``segments``. ``lengths``: ``(texts,)``.
        :param contexts: ``(n,)``, the index of each pair's context; -1 for a reply without one.
        :param replies: ``(n,)``, the index of each pair's reply.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.features(tokens, segments, lengths, contexts, replies))
        return logits

    def features(self, tokens: Tensor, segments: Tensor, lengths: Tensor, contexts: Tensor, replies: Tensor) -> Tensor:
        """Return the head's input, ``(n, 2 * dim)``. Dropout is applied to the vectors before they are compared."""
        vectors = nn.functional.normalize(self.vectors(tokens, segments, lengths), dim=1)
        vectors = self.dropout(vectors * vectors.size(1) ** 0.5)
        u, v = vectors[contexts], vectors[replies]
        products = torch.where(contexts.unsqueeze(1) < 0, 0.0, u * v)
        return torch.cat([products, v], dim=1)
