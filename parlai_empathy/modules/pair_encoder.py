"""Pretrained text encoders with a head: a context and a reply are read together as one text, and numbers come out."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.like_lengths import like_lengths
from parlai_empathy.modules.looking_up import looked_up_at_once
from parlai_empathy.modules.pooling import masked_mean, token_mask
from parlai_empathy.modules.reading_copy import read_states

POOLINGS = ("mean", "first")
DROPOUT = 0.1  # before the head, as BERT's classifiers have it (Devlin et al. 2019)


class TextReader(nn.Module):
    """Texts through an encoder, and one vector of each.

    :param encoder: a Hugging Face model whose output has ``last_hidden_state``.
    :param pooling: ``mean`` of the tokens' states, or the ``first`` token's.
    """

    def __init__(self, encoder: Any, pooling: str) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.has_segments = getattr(encoder.config, "type_vocab_size", 0) > 1
        self.dropout = nn.Dropout(DROPOUT)

    def vectors(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """Read texts.

        :param tokens: ``(n, length)`` ids, padded on the right.
        :param segments: ``(n, length)``, 0 for the context and 1 for the reply.
        :param lengths: ``(n,)``, how many tokens each text has, at least 1.
        :returns: ``(n, dim)``
        """
        chunks = like_lengths(lengths)
        parts = [_cut(tokens[rows], segments[rows], lengths[rows]) for rows in chunks]
        with looked_up_at_once(self.encoder.get_input_embeddings(), [part[0] for part in parts]):
            vectors = [self._read(*part) for part in parts]
        return torch.cat(vectors)[torch.cat(chunks).argsort()]

    def _read(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        keep = token_mask(lengths, tokens.size(1))
        inputs = {"token_type_ids": segments} if self.has_segments else {}
        states = read_states(self.encoder, tokens, keep, **inputs).float()  # (n, length, dim)
        return states[:, 0] if self.pooling == "first" else masked_mean(states, keep)


def _cut(tokens: Tensor, segments: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Without the columns that are padding in every row; on a GPU one would have to wait to know them."""
    longest = int(lengths.max()) if lengths.device.type == "cpu" else tokens.size(1)
    return tokens[:, :longest], segments[:, :longest], lengths


class PairEncoder(TextReader):
    """``[CLS] context [SEP] reply [SEP]`` through an encoder, pooled, through one linear layer.

    :param outputs: how many numbers come out for each text.
    """

    def __init__(self, encoder: Any, outputs: int, pooling: str) -> None:
        super().__init__(encoder, pooling)
        self.head = nn.Linear(encoder.config.hidden_size, outputs)

    def forward(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """Read texts. What :func:`parlai_empathy.modules.pair_tokens.pair_tokens` makes of them goes in.

        :returns: ``(n, outputs)``
        """
        logits: Tensor = self.head(self.dropout(self.features(tokens, segments, lengths)))
        return logits

    def features(self, tokens: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        """What the head reads of the same, ``(n, dim)``."""
        return self.vectors(tokens, segments, lengths)
