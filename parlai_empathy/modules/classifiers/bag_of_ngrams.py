"""fastText's classifier: a linear layer over the mean vector of a text's words and n-grams (Joulin et al. 2016)."""

from __future__ import annotations

from torch import Tensor, nn


class BagOfNgrams(nn.Module):
    """The mean of a text's embeddings, and a linear layer without bias.

    Initialised as in fastText: embeddings uniform between -1 / dim and 1 / dim, the linear layer with zeros.

    :param rows: number of rows of the embedding table.
    :param dim: size of the embeddings.
    :param outputs: number of outputs per text.
    :param sparse: whether the embeddings' gradients are sparse, with only the rows that were looked up. This makes a
        step many times as fast, but not all optimizers support it.
    """

    def __init__(self, rows: int, dim: int, outputs: int, sparse: bool) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag(rows, dim, mode="mean", sparse=sparse)
        self.head = nn.Linear(dim, outputs, bias=False)
        nn.init.uniform_(self.embedding.weight, -1 / dim, 1 / dim)
        nn.init.zeros_(self.head.weight)

    def forward(self, rows: Tensor, starts: Tensor) -> Tensor:
        """Compute the logits of texts.

        :param rows: the row numbers of all texts, concatenated, ``(numbers,)``.
        :param starts: ``(n,)``, the index in ``rows`` at which each text starts.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.features(rows, starts))
        return logits

    def features(self, rows: Tensor, starts: Tensor) -> Tensor:
        """Return the head's input: the texts' mean vectors, ``(n, dim)``; zeros for a text without rows."""
        vectors: Tensor = self.embedding(rows, starts)
        return vectors
