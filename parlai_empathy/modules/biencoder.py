"""Two towers over one embedding: one encodes contexts, the other replies; their dot product is the score."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.transformer import TransformerEncoder


class BiEncoder(nn.Module):
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
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding_size, padding_idx=pad)
        nn.init.normal_(self.embedding.weight, std=embedding_size**-0.5)
        with torch.no_grad():
            self.embedding.weight[pad].zero_()
        length = None if temperature is None else temperature**-0.5
        self.contexts = TransformerEncoder(self.embedding, length=length, **sizes)
        self.replies = TransformerEncoder(self.embedding, length=length, **sizes)

    def forward(self, contexts: Tensor, replies: Tensor) -> tuple[Tensor, Tensor]:
        """Encode both sides in one call, as ``DistributedDataParallel`` needs it.

        :param contexts: ``(n, length)`` token ids.
        :param replies: ``(m, length)`` token ids.
        :returns: ``(n, dim)`` and ``(m, dim)``
        """
        return self.contexts(contexts), self.replies(replies)
