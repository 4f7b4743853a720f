"""The precision to compute in: bfloat16 if the processor multiplies it several times as fast as single precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn

from parlai_empathy.errors import OptionError

CHOICES = ("auto", "float32", "bfloat16")


def use_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether ``--precision`` means bfloat16 on this device. Weights stay in single precision in any case.

    :param precision: ``auto`` means bfloat16 if the device multiplies such matrices several times as fast: a CPU with
        AMX, one of AMD's with AVX-512's bfloat16 (Zen 4 and later), or a GPU since Ampere. Measured with one thread, in
        billion operations per second: an EPYC of Zen 5 468 instead of 106; but a Xeon with AVX-512 alone 70 instead of
        115.
    """
    return _is_bfloat16(precision, device, _multiplies_fast)


def keep_in_bfloat16(precision: str, device: torch.device) -> bool:
    """Whether ``--precision`` means that the weights of a large autoregressive model are kept in bfloat16.

    :param precision: ``auto`` also means bfloat16 on any other CPU with vector instructions for it (AVX-512). Most of
        the time is spent on reading the weights, which take half as many bytes: eight rows times 4,096 x 11,008 weights
        took a Xeon 8.9 ms instead of 19.5.
    """
    return _is_bfloat16(precision, device, _has_vector_instructions)


def _is_bfloat16(precision: str, device: torch.device, cpu_suits: Callable[[], bool]) -> bool:
    """:param cpu_suits: whether ``auto`` means bfloat16 on this machine's CPU."""
    if precision not in CHOICES:
        raise OptionError(f"--precision {precision}: must be one of {', '.join(CHOICES)}")
    if precision != "auto":
        return precision == "bfloat16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and cpu_suits()


def _multiplies_fast() -> bool:
    return _cpu_has("_is_amx_tile_supported") or (_has_vector_instructions() and _is_from_amd())


def _has_vector_instructions() -> bool:
    return _cpu_has("_is_avx512_bf16_supported")


def _cpu_has(check: str) -> bool:
    """Run one of torch's checks. They have private names; if a release lacks one, single precision always works."""
    return bool(getattr(torch.cpu, check, bool)())


def _is_from_amd() -> bool:
    """Whether AMD makes the CPU; releases of torch before ``get_capabilities`` cannot tell."""
    capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return str(capabilities.get("cpu_name", "")).startswith("AMD")


def attend_at_any_length() -> None:
    """Keep torch from cuDNN's attention, its first choice for bfloat16 on many GPUs.

    cuDNN plans for each new shape, which takes half a second or more. Texts differ in length, so there are many shapes.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


def autocast(model: nn.Module, precision: str) -> torch.autocast:
    """Return an autocast context for the precision that ``--precision`` means on the model's device."""
    device = next(model.parameters()).device
    attend_at_any_length()
    return torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16(precision, device))
