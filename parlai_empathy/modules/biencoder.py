"""Two towers: one encodes contexts, the other replies; their vectors' dot product is the score."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.pair_encoder import TextReader
from parlai_empathy.modules.pooling import brought_to
from parlai_empathy.modules.transformer import TransformerEncoder


class TwoTowers(nn.Module):
    """What bi-encoders have in common.

    :param contexts: encodes contexts: ``(n, length)`` token ids to ``(n, dim)``.
    :param replies: encodes replies; it may be the same module.
    :param dim: how many numbers a vector has.
    """

    def __init__(self, contexts: nn.Module, replies: nn.Module, dim: int) -> None:
        super().__init__()
        self.contexts = contexts
        self.replies = replies
        self.dim = dim

    def forward(self, contexts: Tensor, replies: Tensor) -> tuple[Tensor, Tensor]:
        """Encode both sides in one call, as ``DistributedDataParallel`` needs it.

        :param contexts: ``(n, length)`` token ids.
        :param replies: ``(m, length)`` token ids.
        :returns: ``(n, dim)`` and ``(m, dim)``
        """
        return self.contexts(contexts), self.replies(replies)


class BiEncoder(TwoTowers):
    """The paper's retrieval model (Rashkin et al. 2019, section 4.1).

    With 250,006 words of 300 numbers, 4 layers, 6 heads and 1,200 hidden units it has the paper's 84.3M parameters, the
    fixed positions counted.

    :param vocabulary: number of token ids.
    :param pad: the id of the padding token.
    :param temperature: if given, the score is the vectors' cosine divided by it; else their plain dot product, as in
        the paper. (Both vectors get the length that makes their dot product just that.)
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
    """Texts through a Hugging Face encoder: pooled, projected if so wished, brought to a length if so wished.

    :param encoder: whose output has ``last_hidden_state``.
    :param pad: the id of its padding token.
    :param pooling: ``mean`` of the tokens' states, or the ``first`` token's (the paper's BERT).
    :param projection: size of a linear layer behind it (the paper's 300); 0 for none.
    :param length: the Euclidean length that every vector is brought to; None leaves them as they are.
    """

    def __init__(self, encoder: Any, pad: int, pooling: str, projection: int, length: float | None) -> None:
        super().__init__(encoder, pooling)
        self.pad = pad
        self.length = length
        size: int = encoder.config.hidden_size
        self.dim = projection or size
        self.projection = nn.Linear(size, projection) if projection else nn.Identity()
        if pooler := getattr(encoder, "pooler", None):  # of BERT's own: nothing goes through it, and nothing comes back
            pooler.requires_grad_(False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode texts.

        :param tokens: ``(n, length)`` ids, special ones included, padded on the right.
        :returns: ``(n, dim)``
        """
        lengths = (tokens != self.pad).sum(dim=1).clamp(min=1)
        vectors: Tensor = self.projection(self.vectors(tokens, torch.zeros_like(tokens), lengths)).float()
        return brought_to(self.length, vectors)


class PretrainedBiEncoder(TwoTowers):
    """A bi-encoder on a pretrained encoder (BERT in Rashkin et al. 2019, section 4.1).

    :param towers: one, which reads contexts and replies alike; or two, for contexts and for replies.
    """

    def __init__(self, *towers: PretrainedTower) -> None:
        super().__init__(towers[0], towers[-1], towers[0].dim)
