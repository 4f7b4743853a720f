"""fastText's classifier: a text is the mean of its words' and n-grams' vectors (Joulin et al. 2016)."""

from __future__ import annotations

from torch import Tensor, nn


class BagOfNgrams(nn.Module):
    """The mean of some rows of a table, through one linear layer without bias.

    It begins as fastText does: rows uniform between -1 / dim and 1 / dim, the layer with zeros.

    :param rows: of the table.
    :param dim: how many numbers a row has.
    :param outputs: how many numbers come out for each text.
    :param sparse: whether gradients hold only the rows that were read. This makes a step many times as fast, but not
        all optimizers can take it.
    """

    def __init__(self, rows: int, dim: int, outputs: int, sparse: bool) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(rows, dim, mode="mean", sparse=sparse)
        self.head = nn.Linear(dim, outputs, bias=False)
        nn.init.uniform_(self.embedding.weight, -1 / dim, 1 / dim)
        nn.init.zeros_(self.head.weight)

    def forward(self, rows: Tensor, starts: Tensor) -> Tensor:
        """Read texts.

        :param rows: the row numbers of one text after another, ``(numbers,)``.
        :param starts: ``(n,)``, where each text's begin.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.features(rows, starts))
        return logits

    def features(self, rows: Tensor, starts: Tensor) -> Tensor:
        """What the head reads of the same: the texts' vectors, ``(n, dim)``; of a text without rows zeros."""
        vectors: Tensor = self.embedding(rows, starts)
        return vectors
