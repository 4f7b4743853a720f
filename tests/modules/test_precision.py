"""Which data type ``--precision`` selects on which device."""

from __future__ import annotations

import pytest
import torch

from parlai_empathy.errors import OptionError
from parlai_empathy.modules.precision import CHOICES, keep_in_bfloat16, use_bfloat16

CPU, GPU, OTHER = torch.device("cpu"), torch.device("cuda"), torch.device("mps")


@pytest.mark.parametrize("device", [CPU, GPU, OTHER])
def test_explicit_precision_applies_on_every_device(device: torch.device) -> None:
    assert use_bfloat16("bfloat16", device)
    assert not use_bfloat16("float32", device)


@pytest.mark.parametrize("has_it", [True, False])
def test_auto_precision_depends_on_device_support(has_it: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_it, raising=False)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has_it or including_emulation)
    assert use_bfloat16("auto", CPU) is has_it
    assert use_bfloat16("auto", GPU) is has_it
    assert not use_bfloat16("auto", OTHER)


@pytest.mark.parametrize("has_it", [True, False])
def test_storing_in_bfloat16_needs_only_avx512_bf16(has_it: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_it, raising=False)
    assert keep_in_bfloat16("auto", CPU) is has_it
    assert keep_in_bfloat16("bfloat16", CPU)
    assert not keep_in_bfloat16("float32", CPU)
    assert not use_bfloat16("auto", CPU)


def test_auto_precision_is_float32_if_torch_cannot_query_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "_is_amx_tile_supported", raising=False)
    assert not use_bfloat16("auto", CPU)


def test_unknown_precision_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^--precision float16: must be one of auto, float32, bfloat16$"):
        use_bfloat16("float16", CPU)
    assert CHOICES[0] == "auto"
