"""bfloat16 copies of encoders, for inference.

Under autocast each layer casts its weights and its inputs before it computes, and much of the rest is computed in
single precision. A copy whose weights are cast once needs neither: MiniLM encodes many texts in about two thirds of the
time, a single one in little more than half. Training is not affected: trainable weights stay in single precision.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from parlai_empathy.memory import keep_freed_memory
from parlai_empathy.modules.speed.precision import use_bfloat16


@dataclass
class _Copy:
    """A bfloat16 encoder, and the state of the weights that it was copied from."""

    encoder: nn.Module
    state: tuple[tuple[int, int], ...]


_BLOCK = 16
"""Tokens that torch's bfloat16 attention processes together; those after the last whole block are processed one by one.
MiniLM encodes a text of 108 tokens in 6.6 milliseconds, but in 5.3 when four tokens of padding make it 112."""

_WORTH_PADDING = 9  # number of tokens after the last whole block from which on another whole block is faster

# Kept outside the encoders: so no copy is saved, trained, shared between processes or copied again, and each is freed
# with its encoder.
_COPIES: WeakKeyDictionary[nn.Module, _Copy] = WeakKeyDictionary()


def read_states(encoder: Any, tokens: Tensor, keep: Tensor, **inputs: Tensor) -> Tensor:
    """Return the hidden states of tokens, computed by the encoder or the copy that :func:`for_inference` returns.

    :param encoder: a Hugging Face model whose output has ``last_hidden_state``.
    :param tokens: ``(n, length)`` ids, padded on the right.
    :param keep: ``(n, length)``, True for tokens, False for padding.
    :param inputs: further inputs of the encoder, of the same shape.
    :returns: ``(n, length, dim)``
    """
    reader, length = for_inference(encoder), tokens.size(1)
    more = 0 if reader is encoder else _padding(length, encoder.config)
    if more:
        tokens = nn.functional.pad(tokens, (0, more), value=encoder.config.pad_token_id or 0)
        keep, *others = (nn.functional.pad(tensor, (0, more)) for tensor in (keep, *inputs.values()))
        inputs = dict(zip(inputs, others, strict=True))
    states: Tensor = reader(input_ids=tokens, attention_mask=keep.long(), **inputs).last_hidden_state
    return states[:, :length]


def _padding(length: int, config: Any) -> int:
    """Return how many tokens of padding make encoding faster; 0 if they would exceed the encoder's positions."""
    beyond = length % _BLOCK
    more = _BLOCK - beyond if beyond >= _WORTH_PADDING else 0
    return more if length + more <= getattr(config, "max_position_embeddings", math.inf) else 0


def for_inference(encoder: Any) -> Any:
    """Return the model for inference: under autocast on a CPU a bfloat16 copy, otherwise the encoder itself.

    With gradients enabled or in training mode, it is always the encoder. The copy takes half the memory of the weights,
    and is updated when they change. Each call checks for changes; but some optimizers, such as torch's fused ones,
    change weights without a trace, so weights also count as changed after a call for training.

    :param encoder: any model in single precision.
    """
    known = _COPIES.get(encoder)
    if torch.is_grad_enabled() or encoder.training:
        if known:
            known.state = ()
        return encoder
    weights = list(encoder.parameters())
    if not torch.is_autocast_enabled("cpu") or any(_is_other(weight) for weight in weights):
        return encoder
    state = tuple((weight.data_ptr(), weight._version) for weight in weights)
    if known is None:
        known = _COPIES[encoder] = _Copy(_rounded(encoder, weights), state)
    elif known.state != state:
        torch._foreach_copy_(list(known.encoder.parameters()), weights)
        known.state = state
    return known.encoder


def _is_other(weight: Tensor) -> bool:
    """Whether a weight is not on a CPU or not in single precision."""
    return weight.device.type != "cpu" or weight.dtype != torch.float32


def _rounded(encoder: nn.Module, weights: list[nn.Parameter]) -> nn.Module:
    """Return a copy with weights cast to autocast's type; buffers, such as fixed positions, are unchanged."""
    keep_freed_memory()
    dtype = torch.get_autocast_dtype("cpu")
    short = {id(weight): nn.Parameter(weight.detach().to(dtype), requires_grad=False) for weight in weights}
    rounded = copy.deepcopy(encoder, dict[int, Any](short))
    if _has_kernel():
        for module in rounded.modules():
            if type(module) is nn.Linear:
                module.__class__ = _Linear
    return rounded


class _Linear(nn.Linear):
    """A linear layer that adds its bias within the product; torch's own, in bfloat16, needs a second pass for it."""

    def forward(self, states: Tensor) -> Tensor:
        """Return the same as the base class, bit for bit."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            states.to(self.weight.dtype), self.weight, self.bias, "none", [], ""
        )
        return product


def _has_kernel() -> bool:
    """Whether torch has the operator of :class:`_Linear`, meant for compiled code, and the CPU is fast at it."""
    return hasattr(torch.ops.mkldnn, "_linear_pointwise") and use_bfloat16("auto", torch.device("cpu"))
