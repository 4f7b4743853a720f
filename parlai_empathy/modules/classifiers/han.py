"""The hierarchical attention network that scores a reply in its context (Merdivan et al. 2020, section 4.4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from parlai_empathy.modules.classifiers.packed_lstm import PackedLSTM
from parlai_empathy.modules.pooling import token_mask


class HierarchicalAttention(nn.Module):
    """A hierarchical encoder of the context (words to turns to one vector), one of the reply, and a linear layer.

    The context encoder is the network of Yang et al. (2016), with LSTMs in place of GRUs.

    :param embedding: ``(vocabulary, dim)``; its ``padding_idx`` is the id of padding.
    :param hidden_size: units of each LSTM in each direction.
    :param outputs: number of outputs per reply.
    :param dropout: dropout probability of word embeddings and before the last layer.
    """

    def __init__(self, embedding: nn.Embedding, hidden_size: int, outputs: int, dropout: float) -> None:
        super().__init__()
        assert embedding.padding_idx is not None
        self.pad = embedding.padding_idx
        self.embedding = embedding
        self.dropout = nn.Dropout(dropout)
        self.turn_reader = AttentiveLSTM(embedding.embedding_dim, hidden_size)
        self.context_reader = AttentiveLSTM(2 * hidden_size, hidden_size)
        self.reply_reader = AttentiveLSTM(embedding.embedding_dim, hidden_size)
        self.head = nn.Linear(4 * hidden_size, outputs)

    def forward(self, turns: Tensor, reply: Tensor) -> Tensor:
        """Compute the logits of replies in their contexts.

        :param turns: ``(n, turns, words)`` ids, padded on the right, with no empty turns between others. The vector of
            a context without turns is zero.
        :param reply: ``(n, words)`` ids, padded on the right.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.dropout(self.features(turns, reply)))
        return logits

    def features(self, turns: Tensor, reply: Tensor) -> Tensor:
        """Return the head's input, the contexts' vectors concatenated with the replies': ``(n, 4 * hidden_size)``."""
        return torch.cat([self._contexts(turns), self._of_words(self.reply_reader, reply)], dim=1)

    def _contexts(self, turns: Tensor) -> Tensor:
        """``(n, turns, words)`` to ``(n, 2 * hidden_size)``."""
        # Each distinct turn is encoded once: a context's turns are repeated for each of its replies.
        different, places = torch.unique(turns.flatten(0, 1), dim=0, return_inverse=True)
        vectors = self._of_words(self.turn_reader, different)[places].view(*turns.shape[:2], -1)
        lengths = (turns != self.pad).any(dim=2).sum(dim=1)
        contexts: Tensor = self.context_reader(vectors, lengths)
        return contexts

    def _of_words(self, reader: nn.Module, words: Tensor) -> Tensor:
        """``(n, words)`` to ``(n, 2 * hidden_size)``."""
        vectors: Tensor = reader(self.dropout(self.embedding(words)), (words != self.pad).sum(dim=1))
        return vectors


class AttentiveLSTM(nn.Module):
    """A bidirectional LSTM with attention over its states: one vector per sequence."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = PackedLSTM(input_size, hidden_size)
        self.attention = Attention(2 * hidden_size)

    def forward(self, steps: Tensor, lengths: Tensor) -> Tensor:
        """Encode sequences.

        :param steps: ``(n, longest, input_size)``; steps beyond a sequence's length are ignored.
        :param lengths: ``(n,)``
        :returns: ``(n, 2 * hidden_size)``; zeros for an empty sequence.
        """
        filled = lengths > 0
        vectors = steps.new_zeros(len(steps), 2 * self.lstm.hidden_size)
        if filled.any():
            lengths = lengths[filled]
            states = self.lstm(steps[filled, : int(lengths.max())], lengths)
            vectors[filled] = self.attention(states, lengths).to(vectors.dtype)
        return vectors


class Attention(nn.Module):
    """Attention with a learned query over the states of a sequence (Yang et al. 2016, equations 5 to 7)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(size, size)
        self.query = nn.Linear(size, 1, bias=False)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return the weighted mean of the states.

        :param states: ``(n, longest, size)``
        :param lengths: ``(n,)``, at least 1.
        :returns: ``(n, size)``
        """
        scores = self.query(torch.tanh(self.hidden(states))).squeeze(2)  # (n, longest)
        weights = scores.masked_fill(~token_mask(lengths, states.size(1)), -torch.inf).softmax(dim=1)
        mean: Tensor = (weights.unsqueeze(2) * states).sum(dim=1)
        return mean
