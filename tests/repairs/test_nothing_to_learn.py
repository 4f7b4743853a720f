"""Training an agent without weights only saves its options; other agents are trained as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.scripts.train_model import TrainModel
from tiny_parts import BRIEF, SIZES

from parlai_empathy.errors import OptionError

ECHO: dict[str, Any] = {"model": "empathy:in_context", "lm_backend": "echo", "loglevel": "error"}


def test_without_a_model_file_there_is_nothing_to_keep() -> None:
    with pytest.raises(OptionError, match=r"^--model-file is missing: empathy:in_context has no weights to train, "):
        TrainModel.main(**ECHO)


def test_what_cannot_work_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^--lm-model is missing"):
        TrainModel.main(**{**ECHO, "lm_backend": "hf"}, model_file=str(tmp_path / "model"))
    assert not list(tmp_path.iterdir())


def test_others_are_trained(tmp_path: Path) -> None:
    options = {**BRIEF, **SIZES, "max_train_steps": 1, "model": "empathy:retrieval"}
    valid, test = TrainModel.main(**options, model_file=str(tmp_path / "model"))
    assert valid
    assert test
