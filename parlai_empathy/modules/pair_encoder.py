"""A pretrained text encoder with a head: from a context and a reply, read as one text, to numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from parlai_empathy.modules.transformer import masked_mean

# A CPU's time goes with the number of tokens, padding included: texts of like length go together, so many at a time.
_CPU_CHUNK = 32
DROPOUT = 0.1  # before the head, as BERT's classifiers have it (Devlin et al. 2019)


class PairEncoder(nn.Module):
    """``[CLS] context [SEP] reply [SEP]`` through an encoder, pooled, through one linear layer.

    :param encoder: a Hugging Face model whose output has ``last_hidden_state``.
    :param pad: the id of the padding token.
    :param outputs: how many numbers come out for each text.
    :param pooling: ``mean`` of the tokens' states, or the ``first`` token's, as in BERT's classifiers.
    """

    def __init__(self, encoder: Any, pad: int, outputs: int, pooling: str) -> None:
        super().__init__()
        self.encoder = encoder
        self.pad = pad
        self.pooling = pooling
        self.has_segments = getattr(encoder.config, "type_vocab_size", 0) > 1
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Linear(encoder.config.hidden_size, outputs)

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Read texts.

        :param tokens: ``(n, length)`` ids, padded on the right.
        :param segments: ``(n, length)``, 0 for the context and 1 for the reply.
        :returns: ``(n, outputs)``
        """
        if tokens.device.type != "cpu" or len(tokens) <= _CPU_CHUNK:
            return self._read(tokens, segments)
        lengths = (tokens != self.pad).sum(dim=1)
        order = lengths.argsort(stable=True)  # shortest first
        read = [self._read(tokens[c, : lengths[c].max()], segments[c]) for c in torch.split(order, _CPU_CHUNK)]
        return torch.cat(read)[order.argsort()]

    def _read(self, tokens: Tensor, segments: Tensor) -> Tensor:
        keep = tokens != self.pad
        inputs = {"input_ids": tokens, "attention_mask": keep.long()}
        if self.has_segments:
            inputs["token_type_ids"] = segments[:, : tokens.size(1)]
        states = self.encoder(**inputs).last_hidden_state.float()  # (n, length, dim)
        vectors = states[:, 0] if self.pooling == "first" else masked_mean(states, keep)
        logits: Tensor = self.head(self.dropout(vectors))
        return logits
