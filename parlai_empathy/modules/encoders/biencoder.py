"""Bi-encoders: one tower encodes contexts, the other replies; the dot product of their vectors is the score."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.encoders.pair_encoder import TextReader
from parlai_empathy.modules.encoders.transformer import TransformerEncoder
from parlai_empathy.modules.pooling import scaled_to_length


class TwoTowers(nn.Module):
    """Base class of bi-encoders.

    :param contexts: encodes contexts: ``(n, length)`` token ids to ``(n, dim)``.
    :param replies: encodes replies; may be the same module.
    :param dim: size of the vectors.
    """

    def __init__(self, contexts: nn.Module, replies: nn.Module, dim: int) -> None:
        super().__init__()
        self.contexts = contexts
        self.replies = replies
        self.dim = dim

    def forward(self, contexts: Tensor, replies: Tensor) -> tuple[Tensor, Tensor]:
        """Encode both sides in one call, as ``DistributedDataParallel`` requires.

        :param contexts: ``(n, length)`` token ids.
        :param replies: ``(m, length)`` token ids.
        :returns: ``(n, dim)`` and ``(m, dim)``
        """
        return self.contexts(contexts), self.replies(replies)


class BiEncoder(TwoTowers):
    """The paper's retrieval model (Rashkin et al. 2019, section 4.1).

    With 250,006 words, embeddings of size 300, 4 layers, 6 heads and 1,200 hidden units it has the paper's 84.3M
    parameters, fixed position embeddings included.

    :param vocabulary: number of token ids.
    :param pad: the id of the padding token.
    :param temperature: if given, the score is the vectors' cosine divided by it; otherwise their dot product, as in
        the paper. (Both vectors are scaled so that their dot product equals that score.)
    """

    def __init__(
        self, vocabulary: int, pad: int, *, embedding_size: int, temperature: float | None = None, **sizes: Any
    ) -> None:
        embedding = nn.Embedding(vocabulary, embedding_size, padding_idx=pad)
        nn.init.normal_(embedding.weight, std=embedding_size**-0.5)
        with torch.no_grad():
            embedding.weight[pad].zero_()
        length = None if temperature is None else temperature**-0.5
        contexts = TransformerEncoder(embedding, length=length, **sizes)
        super().__init__(contexts, TransformerEncoder(embedding, length=length, **sizes), embedding_size)
        self.embedding = embedding


class PretrainedTower(TextReader):
    """A Hugging Face encoder with pooling, an optional projection, and optional scaling to a fixed length.

    :param encoder: a model whose output has ``last_hidden_state``.
    :param pad: the id of its padding token.
    :param pooling: ``mean`` of the hidden states, or the ``first`` token's (the paper's BERT).
    :param projection: output size of a linear layer after pooling (the paper's 300); 0 for none.
    :param length: the Euclidean length that vectors are scaled to; None leaves them unchanged.
    """

    def __init__(self, encoder: Any, pad: int, pooling: str, projection: int, length: float | None) -> None:
        super().__init__(encoder, pooling)
        self.pad = pad
        self.length = length
        size: int = encoder.config.hidden_size
        self.dim = projection or size
        self.projection = nn.Linear(size, projection) if projection else nn.Identity()
        if pooler := getattr(encoder, "pooler", None):  # BERT's own pooler is unused, so it gets no gradient
            pooler.requires_grad_(False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode texts.

        :param tokens: ``(n, length)`` ids, special tokens included, padded on the right.
        :returns: ``(n, dim)``
        """
        lengths = (tokens != self.pad).sum(dim=1).clamp(min=1)
        vectors: Tensor = self.projection(self.vectors(tokens, torch.zeros_like(tokens), lengths)).float()
        return scaled_to_length(self.length, vectors)


class PretrainedBiEncoder(TwoTowers):
    """A bi-encoder on a pretrained encoder (BERT in Rashkin et al. 2019, section 4.1).

    :param towers: one for both contexts and replies, or two: for contexts and for replies.
    """

    def __init__(self, *towers: PretrainedTower) -> None:
        super().__init__(towers[0], towers[-1], towers[0].dim)
