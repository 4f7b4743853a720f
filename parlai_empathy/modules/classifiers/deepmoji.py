"""DeepMoji: two bidirectional LSTMs with attention over their states and the word embeddings (Felbo et al. 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from parlai_empathy.modules.classifiers.packed_lstm import PackedLSTM
from parlai_empathy.modules.pooling import token_mask


class DeepMoji(nn.Module):
    """The ``tanh`` of word embeddings, two LSTMs, attention over the outputs of all three, and one linear layer.

    Felbo et al. (2017), section 3.2. With embeddings of size 256 and LSTMs of 512 units in each direction the head has
    2,304 inputs.

    :param embedding: ``(vocabulary, dim)``
    :param hidden_size: units of each LSTM in each direction.
    :param outputs: number of outputs per text.
    :param hard_gates: whether the LSTMs' gates are piecewise linear instead of sigmoids, as the published weights
        require. This is slower, because torch's own LSTM supports only sigmoids.
    :param embedding_dropout: probability of dropping an embedding dimension, the same one for all words of a text.
    :param dropout: dropout probability before the head.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        hidden_size: int,
        outputs: int,
        *,
        hard_gates: bool,
        embedding_dropout: float,
        dropout: float,
    ) -> None:
        super().__init__()
        kind = HardGateLSTM if hard_gates else PackedLSTM
        dim = embedding.embedding_dim
        size = 4 * hidden_size + dim
        self.embedding = embedding
        self.embedding_dropout = nn.Dropout1d(embedding_dropout)
        self.lstm_0: PackedLSTM = kind(dim, hidden_size)
        self.lstm_1: PackedLSTM = kind(2 * hidden_size, hidden_size)
        self.attention = WeightedMean(size)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(size, outputs)
        self._begin()

    def _begin(self) -> None:
        """Initialise the weights as in the published model (as Keras does)."""
        nn.init.uniform_(self.embedding.weight, -0.5, 0.5)
        for lstm in (self.lstm_0, self.lstm_1):
            for name, weight in lstm.named_parameters():
                if "bias" in name:
                    nn.init.zeros_(weight)
                elif "_hh_" in name:
                    nn.init.orthogonal_(weight)
                else:
                    nn.init.xavier_uniform_(weight)
                if "bias_ih" in name:
                    nn.init.ones_(weight[lstm.hidden_size : 2 * lstm.hidden_size])  # forget gates start open
        nn.init.xavier_uniform_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Compute the logits of texts.

        :param tokens: ``(n, longest)`` ids; those beyond a text's length are ignored.
        :param lengths: ``(n,)``, at least 1.
        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.dropout(self.features(tokens, lengths)))
        return logits

    def features(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return the head's input, ``(n, 4 * hidden_size + dim)``."""
        words = torch.tanh(self.embedding(tokens))  # (n, longest, dim)
        words = self.embedding_dropout(words.transpose(1, 2)).transpose(1, 2)
        lower = self.lstm_0(words, lengths)  # (n, longest, 2 * hidden_size)
        upper = self.lstm_1(lower, lengths)
        # In the order of the published weights.
        vectors: Tensor = self.attention(torch.cat([upper, lower, words], dim=2), lengths)
        return vectors


class HardGateLSTM(PackedLSTM):
    """A :class:`PackedLSTM` with Keras's "hard sigmoid", ``0.2 x + 0.5`` clipped to 0..1, for its three gates."""

    def forward(self, steps: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """Run both directions together, step by step; the second reads each text from its end."""
        turned = _turned(steps.size(1), lengths)  # (n, longest)
        inputs = torch.stack([self._gates(steps, ""), _taken(self._gates(steps, "_reverse"), turned)])
        recurrent = torch.stack([self.get_parameter(f"weight_hh_l0{turn}") for turn in ("", "_reverse")])
        recurrent = recurrent.transpose(1, 2)  # (2, hidden_size, 4 * hidden_size)
        state = cell = steps.new_zeros(2, len(steps), self.hidden_size)
        states = []
        for step in inputs.unbind(dim=2):  # (2, n, 4 * hidden_size)
            enter, forget, new, leave = torch.baddbmm(step, state, recurrent).chunk(4, dim=2)
            cell = _hard(forget) * cell + _hard(enter) * new.tanh()
            state = _hard(leave) * cell.tanh()
            states.append(state)
        forwards, backwards = torch.stack(states, dim=2)
        both = torch.cat([forwards, _taken(backwards, turned)], dim=2)
        return both.masked_fill(~token_mask(lengths, steps.size(1)).unsqueeze(2), 0)

    def _gates(self, steps: Tensor, direction: str) -> Tensor:
        """Return the inputs' contribution to the gates, ``(n, longest, 4 * hidden_size)``."""
        weight, input_bias, state_bias = (
            self.get_parameter(f"{name}_l0{direction}") for name in ("weight_ih", "bias_ih", "bias_hh")
        )
        return nn.functional.linear(steps, weight, input_bias + state_bias)


def _hard(numbers: Tensor) -> Tensor:
    return (0.2 * numbers + 0.5).clamp(0, 1)


def _turned(longest: int, lengths: Tensor) -> Tensor:
    """Return each text's indices from the last to the first, then zeros beyond its length: ``(n, longest)``."""
    return (lengths.unsqueeze(1) - 1 - torch.arange(longest, device=lengths.device)).clamp(min=0)


def _taken(steps: Tensor, places: Tensor) -> Tensor:
    return steps.gather(1, places.unsqueeze(2).expand(-1, -1, steps.size(2)))


class WeightedMean(nn.Module):
    """Attention with one learned weight per feature of a state (Felbo et al. 2017, equations 1 to 3)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.empty(size).normal_(std=0.05))

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Return the weighted mean of the states: ``(n, longest, size)`` and ``(n,)`` to ``(n, size)``."""
        scores = (states @ self.vector).masked_fill(~token_mask(lengths, states.size(1)), -torch.inf)
        return torch.einsum("nt,nts->ns", scores.softmax(dim=1), states)
