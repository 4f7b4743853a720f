"""Which models are loaded, and on which device; test_in_context.py has the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.core.params import ParlaiParser

from parlai_empathy.agents.in_context import parts
from parlai_empathy.agents.in_context.template import load_template
from parlai_empathy.errors import EmpathyError

OPTIONS: dict[str, Any] = {"model": "empathy:in_context", "lm_backend": "echo", "lm_cache": "none"}


def made(tmp_path: Path, **options: Any) -> parts.Parts:
    parser = ParlaiParser(add_parlai_args=True, add_model_args=True)
    return parts.make_parts(parser.parse_kwargs(**{**OPTIONS, "datapath": str(tmp_path), **options}))


def test_prompt_room_is_context_length_minus_max_tokens(tmp_path: Path) -> None:
    assert made(tmp_path).room is None
    assert made(tmp_path, lm_context_length=1000, max_tokens=100).room == 900


def test_zero_examples_create_no_selector_and_no_files(tmp_path: Path) -> None:
    assert made(tmp_path).selector is None
    assert list(tmp_path.iterdir()) == []


def test_stop_texts_come_from_the_prompt(tmp_path: Path) -> None:
    assert made(tmp_path, prompt="paper").sampling.stop == load_template("paper").stop
    assert made(tmp_path, prompt="chat").sampling.stop == ()


@pytest.mark.parametrize(
    ("options", "with_gpu", "without"),
    [({}, None, None), ({"gpu": 2}, "cuda:2", None), ({"no_cuda": True, "gpu": 2}, "cpu", "cpu")],
)
def test_device_follows_gpu_and_no_cuda_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], with_gpu: str | None, without: str | None
) -> None:
    given: list[str | None] = []
    opened = parts.open_language_model

    def remembered(*args: Any, device: str | None, **kwargs: Any) -> Any:
        given.append(device)
        return opened(*args, device=device, **kwargs)

    monkeypatch.setattr(parts, "open_language_model", remembered)
    for available in (True, False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda available=available: available)
        made(tmp_path, **options)
    assert given == [with_gpu, without]


def test_missing_model_error_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(EmpathyError) as caught:
        made(tmp_path, lm_backend="hf", lm_model=str(tmp_path / "none"))
    assert str(tmp_path / "none") in str(caught.value)
    assert "\n" not in str(caught.value)
