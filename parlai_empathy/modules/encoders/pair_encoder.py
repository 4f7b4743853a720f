"""Pretrained text encoders with a head, which read a context and a reply together as one text (cross-encoders)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.pooling import masked_mean, token_mask
from parlai_empathy.modules.speed.embedding_lookup import looked_up_together
from parlai_empathy.modules.speed.inference_copy import read_states
from parlai_empathy.modules.speed.length_buckets import length_buckets

POOLINGS = ("mean", "first")
DROPOUT = 0.1  # before the head, as in BERT's classifiers (Devlin et al. 2019)


class TextReader(nn.Module):
    """An encoder with pooling: one vector per text.

    :param encoder: a Hugging Face model whose output has ``last_hidden_state``.
    :param pooling: ``mean`` of the hidden states, or the ``first`` token's.
    """

    def __init__(self, encoder: Any, pooling: str) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.has_segments = getattr(encoder.config, "type_vocab_size", 0) > 1
        self.dropout = nn.Dropout(DROPOUT)

    def vectors(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """Encode texts.

        :param tokens: ``(n, length)`` ids, padded on the right.
        :param segments: ``(n, length)``, 0 for the context and 1 for the reply.
        :param lengths: ``(n,)``, the number of tokens of each text, at least 1.
        :returns: ``(n, dim)``
        """
        chunks = length_buckets(lengths)
        parts = [_cut(tokens[rows], segments[rows], lengths[rows]) for rows in chunks]
        with looked_up_together(self.encoder.get_input_embeddings(), [part[0] for part in parts]):
            vectors = [self._read(*part) for part in parts]
        return torch.cat(vectors)[torch.cat(chunks).argsort()]

    def _read(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        keep = token_mask(lengths, tokens.size(1))
        inputs = {"token_type_ids": segments} if self.has_segments else {}
        states = read_states(self.encoder, tokens, keep, **inputs).float()  # (n, length, dim)
        return states[:, 0] if self.pooling == "first" else masked_mean(states, keep)


def _cut(tokens: Tensor, segments: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Trim the columns that are padding in every row."""
    longest = int(lengths.max())
    return tokens[:, :longest], segments[:, :longest], lengths


class PairEncoder(TextReader):
    """An encoder of ``[CLS] context [SEP] reply [SEP]``, pooling, and one linear layer.

    :param outputs: number of outputs per text.
    """

    def __init__(self, encoder: Any, outputs: int, pooling: str) -> None:
        super().__init__(encoder, pooling)
        self.head = nn.Linear(encoder.config.hidden_size, outputs)

    def forward(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """Compute the logits of texts, as encoded by :func:`parlai_empathy.modules.encoders.pair_tokens.pair_tokens`.

        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.dropout(self.features(tokens, segments, lengths)))
        return logits

    def features(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """Return the head's input, ``(n, dim)``."""
        return self.vectors(tokens, segments, lengths)
