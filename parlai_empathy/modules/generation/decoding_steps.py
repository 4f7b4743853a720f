"""Decoding one token at a time: the decoder's output for the next token of each hypothesis.

:class:`ModelSteps` works with any ParlAI generator. :class:`WordSteps` computes the same as ParlAI's Transformer with
less copying: the contexts' keys and values are computed and stored once per example, not once per hypothesis; those of
the replies stay in place, and only rows that continue another row are copied; query, key and value come from one matrix
product.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from parlai.agents.transformer.modules import (
    MultiHeadAttention,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerFFN,
)
from torch import Tensor, nn
from torch.nn import functional as F

_ROOM = 16  # initial capacity of the key-value cache, in tokens


class Steps(Protocol):
    """Decodes step by step. Each row is a hypothesis; in the first step each example has one."""

    def next(self, tokens: Tensor) -> Tensor:
        """Process the last token of each row.

        :param tokens: ``(rows, time)``, all tokens so far.
        :returns: the decoder's output, from which the model's ``output`` computes scores, ``(rows, dim)``.
        """

    def follow(self, parents: Tensor, slots: Tensor) -> None:
        """Reorder the rows: each new row continues an old one.

        :param parents: ``(new rows,)``, the old row that each new row continues.
        :param slots: ``(new rows,)``, each row's slot, ``example * size + hypothesis``, in ascending order.
        """


def steps_of(model: Any, states: Any, size: int) -> Steps:
    """Return the fastest :class:`Steps` for a model.

    :param states: the encoder's output, one row per example.
    :param size: maximum number of hypotheses per example.
    """
    if not WordSteps.can(model):
        return ModelSteps(model, states)
    return WordSteps(model.decoder, states[0], states[1], size)


class ModelSteps:
    """Decoding steps of any ParlAI generator."""

    def __init__(self, model: Any, states: Any) -> None:
        self._model = model
        self._states = states
        self._cache: Any = None
        self._slots: Tensor | None = None

    def next(self, tokens: Tensor) -> Tensor:
        """Process the last token of each row."""
        latent, self._cache = self._model.decoder(tokens, self._states, self._cache)
        last: Tensor = latent[:, -1]
        return last

    def follow(self, parents: Tensor, slots: Tensor) -> None:
        """Reorder the rows: each new row continues an old one."""
        is_other = self._slots is None or not torch.equal(self._slots, slots)
        if is_other:  # otherwise each row belongs to the same example as before
            self._states = self._model.reorder_encoder_states(self._states, parents)
            self._slots = slots
        if self._cache is not None and (is_other or len(_moved(parents))):
            self._cache = self._model.reorder_decoder_incremental_state(self._cache, parents)


def _moved(parents: Tensor) -> Tensor:
    """Return the rows that continue another row."""
    return (parents != torch.arange(len(parents), device=parents.device)).nonzero().squeeze(1)


class WordSteps:
    """Decoding steps of ParlAI's Transformer decoder with post-layer normalisation, as in Vaswani et al. (2017).

    Under autocast the weights are cast once, not at each step.

    :param states: ``(examples, length, dim)``, the encoder's output.
    :param mask: ``(examples, length)``, True for tokens, False for padding.
    :param size: maximum number of hypotheses per example.
    """

    @staticmethod
    def can(model: Any) -> bool:
        """Whether a model's decoder is of this kind, unmodified, not model-parallel and in evaluation mode."""
        decoder: Any = getattr(model, "decoder", None)
        if type(decoder) is not TransformerDecoder or decoder.variant != "aiayn":
            return False
        if getattr(decoder.layers, "is_model_parallel", False) or decoder.training:
            return False
        return all(
            type(layer) is TransformerDecoderLayer
            and type(layer.self_attention) is MultiHeadAttention
            and type(layer.encoder_attention) is MultiHeadAttention
            and type(layer.ffn) is TransformerFFN
            for layer in decoder.layers
        )

    def __init__(self, decoder: Any, states: Tensor, mask: Tensor, size: int) -> None:
        self._decoder = decoder
        kind = states.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else decoder.embeddings.weight.dtype
        self._layers = [_Layer(layer, states.to(dtype), dtype) for layer in decoder.layers]
        self._context = _Context(mask, size)
        self._device_type = kind
        self._time = 0

    def next(self, tokens: Tensor) -> Tensor:
        """Process the last token of each row."""
        decoder, place = self._decoder, tokens.size(1) - 1
        self._time = place + 1
        words: Tensor = decoder.embeddings(tokens[:, -1])
        if decoder.embeddings_scale:
            words = words * math.sqrt(decoder.dim)
        states: Tensor = words + decoder.position_embeddings.weight[place]
        with torch.autocast(self._device_type, enabled=False):
            for layer in self._layers:
                states = layer(states, place, self._context)
        return states

    def follow(self, parents: Tensor, slots: Tensor) -> None:
        """Reorder the rows: each new row continues an old one."""
        if not self._context.is_of(slots):
            stay = self._context.become(slots)
            for layer in self._layers:
                layer.take(parents, self._time, stay)
        elif len(moved := _moved(parents)):
            for layer in self._layers:
                layer.move(parents[moved], moved, self._time)


class _Context:
    """Maps rows to examples, so that all hypotheses of an example attend to the same context.

    :param mask: ``(examples, length)``, True for tokens, False for padding.
    """

    def __init__(self, mask: Tensor, size: int) -> None:
        self.mask = mask[:, None, None, :]  # (examples, 1, 1, length)
        self._size = size
        self._examples = torch.arange(len(mask), device=mask.device)
        self.width = 1
        """Number of slots per example: the beam size, or 1 in the first step."""
        self.places: Tensor | None = None
        """The rows' indices in ``examples * width`` slots; None if all slots are filled."""
        self._slots: Tensor | None = None

    def is_of(self, slots: Tensor) -> bool:
        """Whether these are the current rows."""
        return self._slots is not None and torch.equal(self._slots, slots)

    def become(self, slots: Tensor) -> Tensor | None:
        """Switch to other rows.

        :param slots: ``(rows,)``, in ascending order.
        :returns: the indices of the examples that remain; None for all.
        """
        examples, own = torch.unique_consecutive(slots // self._size, return_inverse=True)
        stay = None
        if len(examples) < len(self._examples):
            stay = torch.searchsorted(self._examples, examples)
            self.mask, self._examples = self.mask[stay], examples
        self.width, self._slots = self._size, slots
        is_full = len(slots) == len(examples) * self._size
        self.places = None if is_full else own * self._size + slots % self._size
        return stay

    def spread(self, rows: Tensor) -> Tensor:
        """``(rows, dim)`` to ``(examples, width, dim)``, zeros where there is no row."""
        if self.places is not None:
            wide = rows.new_zeros(len(self._examples) * self.width, rows.size(1))
            wide[self.places] = rows
            rows = wide
        return rows.view(-1, self.width, rows.size(1))

    def gathered(self, wide: Tensor) -> Tensor:
        """``(examples, width, dim)`` to ``(rows, dim)``."""
        rows = wide.flatten(0, 1)
        return rows if self.places is None else rows[self.places]


class _Layer:
    """One layer of the decoder, with its cached keys and values."""

    def __init__(self, layer: Any, states: Tensor, dtype: torch.dtype) -> None:
        own, other = layer.self_attention, layer.encoder_attention
        self._heads: int = own.n_heads
        self._size: int = own.dim // own.n_heads
        self._own_in = _product(dtype, own.q_lin, own.k_lin, own.v_lin)
        self._own_out = _product(dtype, own.out_lin)
        self._other_in = _product(dtype, other.q_lin)
        self._other_out = _product(dtype, other.out_lin)
        self._wide, self._narrow = _product(dtype, layer.ffn.lin1), _product(dtype, layer.ffn.lin2)
        self._norms = (layer.norm1, layer.norm2, layer.norm3)
        self._nonlinear = layer.ffn.nonlinear
        self._dtype = dtype
        keys, values = F.linear(states, *_product(dtype, other.k_lin, other.v_lin)).chunk(2, dim=-1)
        self._context = (self._split_heads(keys), self._split_heads(values))  # (examples, heads, length, size)
        empty = (len(states), self._heads, _ROOM, self._size)
        self._keys, self._values = states.new_empty(empty), states.new_empty(empty)  # (rows, heads, room, size)

    def _split_heads(self, tensor: Tensor) -> Tensor:
        """``(n, time, heads * size)`` to ``(n, heads, time, size)``."""
        return tensor.view(len(tensor), -1, self._heads, self._size).transpose(1, 2).contiguous()

    def __call__(self, states: Tensor, place: int, context: _Context) -> Tensor:
        """Return the layer's output for the token at an index: ``(rows, dim)`` to ``(rows, dim)``, single precision."""
        states = self._norms[0](states + self._among_tokens(states, place).to(states.dtype))
        states = self._norms[1](states + self._to_context(states, context).to(states.dtype))
        hidden = self._nonlinear(F.linear(states.to(self._dtype), *self._wide))
        output: Tensor = self._norms[2](states + F.linear(hidden, *self._narrow).to(states.dtype))
        return output

    def _among_tokens(self, states: Tensor, place: int) -> Tensor:
        if place == self._keys.size(2):
            self._keys, self._values = (torch.cat([part, torch.empty_like(part)], 2) for part in self._kept())
        query, key, value = (
            F.linear(states.to(self._dtype), *self._own_in).view(len(states), 3, self._heads, -1).unbind(1)
        )
        self._keys[:, :, place], self._values[:, :, place] = key, value
        keys, values = (part[:, :, : place + 1] for part in self._kept())
        mixed = F.scaled_dot_product_attention(query.unsqueeze(2), keys, values)  # (rows, heads, 1, size)
        return F.linear(mixed.flatten(1), *self._own_out)

    def _to_context(self, states: Tensor, context: _Context) -> Tensor:
        query = self._split_heads(context.spread(F.linear(states.to(self._dtype), *self._other_in)))
        mixed = F.scaled_dot_product_attention(query, *self._context, attn_mask=context.mask)
        return F.linear(context.gathered(mixed.transpose(1, 2).flatten(2)), *self._other_out)

    def _kept(self) -> tuple[Tensor, Tensor]:
        return self._keys, self._values

    def take(self, rows: Tensor, time: int, examples: Tensor | None) -> None:
        """Keep only these rows, each as often as it is listed, and these examples (None: all)."""
        self._keys, self._values = (self._taken(part, rows, time) for part in self._kept())
        if examples is not None:
            self._context = (self._context[0][examples], self._context[1][examples])

    @staticmethod
    def _taken(part: Tensor, rows: Tensor, time: int) -> Tensor:
        taken = part.new_empty(len(rows), *part.shape[1:])
        taken[:, :, :time] = part[rows, :, :time]
        return taken

    def move(self, old: Tensor, new: Tensor, time: int) -> None:
        """Copy the cached keys and values of old rows to new ones."""
        for part in self._kept():
            part[new, :, :time] = part[old, :, :time]


def _product(dtype: torch.dtype, *linears: nn.Linear) -> tuple[Tensor, Tensor]:
    """Return the concatenated weights and biases of several linear layers."""
    weight, bias = (torch.cat([getattr(linear, name) for linear in linears]) for name in ("weight", "bias"))
    return weight.to(dtype), bias.to(dtype)
