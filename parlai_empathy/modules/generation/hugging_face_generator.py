"""Hugging Face language models behind ParlAI's generator interface, so that ParlAI can train them and decode with them.

There are two kinds, distinguished by the configuration: *seq2seq* (T5, BART), with an encoder and a decoder; and
*causal* (GPT-2, Llama), decoder-only, which reads the context and continues with the reply.

ParlAI starts a reply with the dictionary's start token and pads rows with its null token. The model may have neither
token: here the start token is replaced by the tokens that the model itself starts with, and null tokens are masked.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from parlai.core.torch_generator_agent import TorchGeneratorModel
from parlai.utils.torch import neginf
from torch import Tensor, nn

from parlai_empathy.modules.generation.token_losses import TrueTokenLosses

States = tuple[Tensor, Tensor]
"""The contexts' states ``(batch, length, dim)``, and a mask ``(batch, length)`` that is True for tokens."""


class HuggingFaceGenerator(TrueTokenLosses, TorchGeneratorModel):
    """Base class of both kinds.

    :param language_model: a transformers model with its language modelling head.
    :param begins_with: the ids of the tokens before a reply; at least one.
    :param null: the dictionary's padding id, which need not be in the model's vocabulary.
    :param start: the dictionary's id of the start token, which need not be in the model's vocabulary.
    :param end: the id of the end token, which must be in the model's vocabulary.
    """

    def __init__(self, language_model: nn.Module, begins_with: Sequence[int], null: int, start: int, end: int) -> None:
        super().__init__(null, start, end)
        self.language_model: Any = language_model
        self.register_buffer("begins_with", torch.tensor(begins_with), persistent=False)
        self._takes = set(inspect.signature(language_model.forward).parameters)
        self._cache = "cache" if "cache" in self._takes else "past_key_values"  # its name before transformers 5.24

    @property
    def words(self) -> int:
        """The model's vocabulary size."""
        return int(self.language_model.get_input_embeddings().num_embeddings)

    @abstractmethod
    def encoder(self, tokens: Tensor, *_: Any) -> States:
        """Encode contexts, ``(batch, length)``, padded on the right."""

    @abstractmethod
    def decoder(self, tokens: Tensor, states: States, cache: Any = None) -> tuple[Tensor, Any]:
        """Compute the scores of the next token after each token.

        :param tokens: ``(batch, time)``: the start token, then the reply so far.
        :param cache: an earlier call's cache for all tokens but the last: then only the last one is processed.
        :returns: scores ``(batch, time, vocabulary)``, or with a cache ``(batch, 1, vocabulary)``; and a new cache,
            unless gradients are enabled.
        """

    def output(self, scores: Tensor) -> Tensor:
        """Return the decoder's scores, extended by columns of minus infinity up to the largest id that ParlAI uses."""
        missing = max(self.NULL_IDX, self.START_IDX) + 1 - scores.size(-1)
        if missing <= 0:
            return scores
        return torch.cat([scores, scores.new_full((*scores.shape[:-1], missing), neginf(scores.dtype))], dim=-1)

    def _known(self, tokens: Tensor) -> Tensor:
        """Replace padding with an id in the model's vocabulary."""
        return tokens.masked_fill(tokens == self.NULL_IDX, 0)

    def _begun(self, tokens: Tensor) -> Tensor:
        """Replace the start token with the tokens that the model starts with."""
        return torch.cat([self.begins_with.expand(len(tokens), -1), self._known(tokens[:, 1:])], dim=1)

    def reorder_encoder_states(self, encoder_states: States, indices: Any) -> States:
        """Select rows of the encoder's states."""
        rows = torch.as_tensor(indices, device=encoder_states[0].device)
        return encoder_states[0].index_select(0, rows), encoder_states[1].index_select(0, rows)

    def reorder_decoder_incremental_state(self, incremental_state: Any, inds: Tensor) -> Any:
        """Select rows of the cache."""
        return reordered(incremental_state, inds)


def reordered(cache: Any, rows: Tensor) -> Any:
    """Select rows of a cache: a cache object of current transformers, or the tuples of tensors of older releases."""
    if hasattr(cache, "reorder_cache"):
        cache.reorder_cache(rows)
        return cache
    if isinstance(cache, tuple | list):
        return tuple(reordered(part, rows) for part in cache)
    return cache.index_select(0, rows) if torch.is_tensor(cache) else cache


class Seq2SeqGenerator(HuggingFaceGenerator):
    """An encoder-decoder model, such as T5 and BART."""

    def encoder(self, tokens: Tensor, *_: Any) -> States:
        """Encode contexts."""
        mask = tokens != self.NULL_IDX
        read = self.language_model.get_encoder()(input_ids=self._known(tokens), attention_mask=mask.long())
        return read.last_hidden_state, mask

    def decoder(self, tokens: Tensor, states: States, cache: Any = None) -> tuple[Tensor, Any]:
        """Compute the scores of the next tokens."""
        begun = self._begun(tokens)
        written = self.language_model(
            encoder_outputs=(states[0],),
            attention_mask=states[1].long(),
            decoder_input_ids=begun if cache is None else begun[:, -1:],
            use_cache=not torch.is_grad_enabled(),
            **{self._cache: cache},
        )
        return _last(written.logits, 1 if cache is not None else tokens.size(1)), written.get(self._cache)


class CausalGenerator(HuggingFaceGenerator):
    """A decoder-only model, such as GPT-2 and Llama. A context's states are its token embeddings."""

    def encoder(self, tokens: Tensor, *_: Any) -> States:
        """Look up the contexts' embeddings; the model reads them together with the reply."""
        return self.language_model.get_input_embeddings()(self._known(tokens)), tokens != self.NULL_IDX

    def decoder(self, tokens: Tensor, states: States, cache: Any = None) -> tuple[Tensor, Any]:
        """Score the next tokens. Padding, also between context and reply, is masked and takes up no position."""
        begun = self._begun(tokens)
        start = torch.ones_like(self.begins_with, dtype=torch.bool).expand(len(tokens), -1)
        mask = torch.cat([states[1], start, tokens[:, 1:] != self.NULL_IDX], dim=1).long()
        embedded = self.language_model.get_input_embeddings()(begun)
        time = tokens.size(1)
        if cache is None:
            inputs = torch.cat([states[0].to(embedded.dtype), embedded], dim=1)
        else:
            inputs, time = embedded[:, -1:], 1
        given: dict[str, Any] = {self._cache: cache}
        if "position_ids" in self._takes:
            given["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -inputs.size(1) :]
        if "logits_to_keep" in self._takes:  # transformers before 4.45 score the context as well
            given["logits_to_keep"] = time
        written = self.language_model(
            inputs_embeds=inputs,
            attention_mask=mask,
            use_cache=not torch.is_grad_enabled(),
            **given,
        )
        return _last(written.logits, time), written.get(self._cache)


def _last(scores: Tensor, time: int) -> Tensor:
    """Return the last ``time`` positions; those before belong to the context or to the model's own start tokens."""
    return scores[:, -time:]


GENERATORS: dict[str, type[HuggingFaceGenerator]] = {"seq2seq": Seq2SeqGenerator, "causal": CausalGenerator}
