"""Training an agent without weights only saves its options; other agents are trained as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlai.scripts.train_model import TrainModel
from tiny_parts import BRIEF, SIZES

from parlai_empathy.errors import OptionError

ECHO: dict[str, Any] = {"model": "empathy:in_context", "lm_backend": "echo", "loglevel": "error"}


def test_training_agent_without_weights_needs_model_file() -> None:
    with pytest.raises(OptionError, match=r"^--model-file is missing: empathy:in_context has no weights to train, "):
        TrainModel.main(**ECHO)


def test_failed_training_leaves_no_files(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"^--lm-model is missing"):
        TrainModel.main(**{**ECHO, "lm_backend": "hf"}, model_file=str(tmp_path / "model"))
    assert not list(tmp_path.iterdir())


def test_other_agents_are_trained_and_evaluated(tmp_path: Path) -> None:
    options = {**BRIEF, **SIZES, "max_train_steps": 1, "model": "empathy:retrieval"}
    valid, test = TrainModel.main(**options, model_file=str(tmp_path / "model"))
    assert valid
    assert test
