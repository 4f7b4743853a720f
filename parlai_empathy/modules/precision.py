"""The precision to compute in: bfloat16 if the processor has matrix units for it, which are several times as fast."""

from __future__ import annotations

import torch
from torch import nn

from parlai_empathy.errors import OptionError

CHOICES = ("auto", "float32", "bfloat16")


def use_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether ``--precision`` means bfloat16 on this device. Weights stay in single precision in any case.

    :param precision: ``auto`` means bfloat16 if the device has matrix units for it: a CPU's AMX, or those of GPUs since
        Ampere. With vector instructions alone (AVX-512), a Xeon was slower than in single precision: 70 against 115
        billion operations per second.
    """
    return _is_bfloat16(precision, device, "_is_amx_tile_supported")


def keep_in_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether ``--precision`` means that the weights of a large autoregressive model are kept in bfloat16.

    :param precision: ``auto`` also means bfloat16 if a CPU only has vector instructions for it. Most of the time is
        spent on reading the weights, which take half as many bytes: eight rows times 4,096 x 11,008 weights took 8.9 ms
        instead of 19.5.
    """
    return _is_bfloat16(precision, device, "_is_avx512_bf16_supported")


def _is_bfloat16(precision: str, device: torch.device, needed: str) -> bool:
    """:param needed: torch's name for the check of the CPU feature that ``auto`` requires for bfloat16."""
    if precision not in CHOICES:
        raise OptionError(f"--precision {precision}: must be one of {', '.join(CHOICES)}")
    if precision != "auto":
        return precision == "bfloat16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Torch has this check only under a private name; if a release lacks it, single precision always works.
    has_it = getattr(torch.cpu, needed, None)
    return device.type == "cpu" and has_it is not None and bool(has_it())


def autocast(model: nn.Module, precision: str) -> torch.autocast:
    """Return an autocast context for the precision that ``--precision`` means on the model's device."""
    device = next(model.parameters()).device
    return torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16(precision, device))
