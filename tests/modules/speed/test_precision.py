"""Which data type ``--precision`` selects on which device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from parlai_empathy.errors import OptionError
from parlai_empathy.modules.speed.precision import (
    CHOICES,
    attend_at_any_length,
    autocast,
    keep_in_bfloat16,
    use_bfloat16,
)

CPU, GPU, OTHER = torch.device("cpu"), torch.device("cuda"), torch.device("mps")


@pytest.mark.parametrize("device", [CPU, GPU, OTHER])
def test_explicit_precision_applies_on_every_device(device: torch.device) -> None:
    assert use_bfloat16("bfloat16", device)
    assert not use_bfloat16("float32", device)


def _pretend(monkeypatch: pytest.MonkeyPatch, amx: bool, avx512: bool, name: str) -> None:
    """Make torch report a CPU with these features."""
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512, raising=False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"cpu_name": name}, raising=False)


@pytest.mark.parametrize(
    ("amx", "avx512", "name", "computes", "keeps"),
    [
        (True, True, "Intel(R) Xeon(R)", True, True),
        (False, True, "Intel(R) Xeon(R)", False, True),
        (False, True, "AMD EPYC", True, True),
        (False, False, "AMD EPYC", False, False),
        (False, False, "Apple M2", False, False),
    ],
)
def test_auto_precision_depends_on_the_cpu(
    amx: bool, avx512: bool, name: str, computes: bool, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pretend(monkeypatch, amx, avx512, name)
    assert use_bfloat16("auto", CPU) is computes
    assert keep_in_bfloat16("auto", CPU) is keeps
    assert not use_bfloat16("auto", OTHER)
    for chosen in (use_bfloat16, keep_in_bfloat16):
        assert chosen("bfloat16", CPU)
        assert not chosen("float32", CPU)


@pytest.mark.parametrize("native", [True, False])
def test_auto_precision_needs_native_support_of_a_gpu(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: native or including_emulation)
    assert use_bfloat16("auto", GPU) is native
    assert keep_in_bfloat16("auto", GPU) is native


def test_auto_precision_is_float32_if_torch_cannot_query_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for check in ("_is_amx_tile_supported", "_is_avx512_bf16_supported", "get_capabilities"):
        monkeypatch.delattr(torch.cpu, check, raising=False)
    assert not use_bfloat16("auto", CPU)
    assert not keep_in_bfloat16("auto", CPU)


def test_maker_of_the_cpu_is_unknown_to_older_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, amx=False, avx512=True, name="AMD EPYC")
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert not use_bfloat16("auto", CPU)
    assert keep_in_bfloat16("auto", CPU)


def test_unknown_precision_raises_option_error() -> None:
    with pytest.raises(OptionError, match=r"^--precision float16: must be one of auto, float32, bfloat16$"):
        use_bfloat16("float16", CPU)
    assert CHOICES[0] == "auto"


@pytest.mark.parametrize("begin", [attend_at_any_length, lambda: autocast(torch.nn.Linear(1, 1), "float32")])
def test_attention_that_plans_for_each_length_is_not_used(begin: Callable[[], object]) -> None:
    torch.backends.cuda.enable_cudnn_sdp(True)
    begin()
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled()
