"""Which numbers to compute with: bfloat16 where the processor has units for it, which are several times as fast."""

from __future__ import annotations

import torch
from torch import nn

from parlai_empathy.errors import OptionError

CHOICES = ("auto", "float32", "bfloat16")


def use_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether ``--precision`` means bfloat16 on this device. Weights stay in single precision in any case.

    :param precision: ``auto`` means bfloat16 where the device has units that multiply matrices of it: a CPU's AMX, a
        GPU's since Ampere. Instructions for it alone (AVX-512) made a Xeon slower than single precision: 70 against 115
        billion operations a second.
    """
    return _is_bfloat16(precision, device, "_is_amx_tile_supported")


def keep_in_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether ``--precision`` means that a large model, which writes token by token, is kept in bfloat16.

    :param precision: ``auto`` means so where a CPU has mere instructions for it, too. What takes time is to read the
        weights, and they are half as many bytes: eight rows times 4,096 x 11,008 weights took 8.9 ms against 19.5.
    """
    return _is_bfloat16(precision, device, "_is_avx512_bf16_supported")


def _is_bfloat16(precision: str, device: torch.device, needed: str) -> bool:
    """:param needed: what a CPU needs for ``auto`` to mean bfloat16, by torch's name for it."""
    if precision not in CHOICES:
        raise OptionError(f"--precision {precision}: must be one of {', '.join(CHOICES)}")
    if precision != "auto":
        return precision == "bfloat16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Torch asks the processor under this name only; where a release lacks it, single precision is always right.
    has_it = getattr(torch.cpu, needed, None)
    return device.type == "cpu" and has_it is not None and bool(has_it())


def autocast(model: nn.Module, precision: str) -> torch.autocast:
    """A context in which a model computes with the numbers that ``--precision`` means on its device."""
    device = next(model.parameters()).device
    return torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16(precision, device))
