"""Encoders that only read, in bfloat16 throughout.

Under autocast each layer rounds its weights and its inputs before it computes, and much of what follows is computed in
single precision. A copy whose weights are rounded once needs none of it: MiniLM reads many texts in about two thirds of
the time, a single one in little more than half. Training is not touched: weights that learn stay in single precision.
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
from parlai_empathy.modules.precision import use_bfloat16


@dataclass
class _Copy:
    """A rounded encoder, and of which weights it is the copy."""

    encoder: nn.Module
    state: tuple[tuple[int, int], ...]


_BLOCK = 16
"""Tokens that torch's attention in bfloat16 takes together; those beyond whole blocks it takes one by one. MiniLM reads
a text of 108 tokens in 6.6 milliseconds, and the same text with four tokens of padding, which make it 112, in 5.3."""

_WORTH_PADDING = 9  # tokens beyond whole blocks from which on another whole block takes less time than they do

# Kept beside the encoders, not in them: no copy is saved, trained, shared between processes or copied again, and each
# goes when its encoder goes.
_COPIES: WeakKeyDictionary[nn.Module, _Copy] = WeakKeyDictionary()


def read_states(encoder: Any, tokens: Tensor, keep: Tensor, **inputs: Tensor) -> Tensor:
    """What an encoder makes of tokens; where :func:`for_reading` has a copy of it, the copy does it.

    :param encoder: a Hugging Face model whose output has ``last_hidden_state``.
    :param tokens: ``(n, length)`` ids, padded on the right.
    :param keep: ``(n, length)``, which of them are no padding.
    :param inputs: what else the encoder is to be given, of the same shape.
    :returns: ``(n, length, dim)``
    """
    reader, length = for_reading(encoder), tokens.size(1)
    more = 0 if reader is encoder else _padding(length, encoder.config)
    if more:
        tokens = nn.functional.pad(tokens, (0, more), value=encoder.config.pad_token_id or 0)
        keep, *others = (nn.functional.pad(tensor, (0, more)) for tensor in (keep, *inputs.values()))
        inputs = dict(zip(inputs, others, strict=True))
    states: Tensor = reader(input_ids=tokens, attention_mask=keep.long(), **inputs).last_hidden_state
    return states[:, :length]


def _padding(length: int, config: Any) -> int:
    """How many tokens of padding make reading faster; none where the encoder knows no places for them."""
    beyond = length % _BLOCK
    more = _BLOCK - beyond if beyond >= _WORTH_PADDING else 0
    return more if length + more <= getattr(config, "max_position_embeddings", math.inf) else 0


def for_reading(encoder: Any) -> Any:
    """What to read with: under autocast on a CPU, where nothing learns from it, a copy in bfloat16; else the encoder.

    The copy takes half the memory of the weights, and follows them. They are compared with what they were on each call;
    but some optimisers, such as torch's fused ones, change weights without a trace, so what has once been read to learn
    from counts as changed too.

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
    """Whether it is no weight of single precision on a CPU."""
    return weight.device.type != "cpu" or weight.dtype != torch.float32


def _rounded(encoder: nn.Module, weights: list[nn.Parameter]) -> nn.Module:
    """A copy with rounded weights; buffers, such as fixed positions, stay as they are."""
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
    """Adds its bias within the product; torch's own, in bfloat16, writes it down first and reads it again."""

    def forward(self, states: Tensor) -> Tensor:
        """The same as its base class, to the last bit."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            states.to(self.weight.dtype), self.weight, self.bias, "none", [], ""
        )
        return product


def _has_kernel() -> bool:
    """Whether this torch has what :class:`_Linear` calls (for what it compiles), and the processor units for it."""
    return hasattr(torch.ops.mkldnn, "_linear_pointwise") and use_bfloat16("auto", torch.device("cpu"))
