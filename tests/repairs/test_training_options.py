"""Options with which ParlAI would fail midway or never end: rejected before training, or without losing progress."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from parlai.core.torch_agent import TorchAgent
from parlai.scripts.train_model import TrainModel
from parlai_as_it_comes import source_of
from tiny_parts import SIZES, TASK

from parlai_empathy.errors import MissingDependencyError, OptionError

TINY: dict[str, Any] = {**TASK, **SIZES, "model": "empathy:retrieval", "batchsize": 64, "num_epochs": 1, "seed": 1}


def refused(**changes: Any) -> str:
    """Return the error message of a training."""
    with pytest.raises(OptionError) as error:
        TrainModel.main(**{**TINY, **changes})
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


# --- before training --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, -3])
def test_nonpositive_batch_size_raises_option_error(size: int) -> None:
    assert refused(batchsize=size) == f"--batchsize {size}: must be at least 1"


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf")])
def test_invalid_learning_rate_raises_option_error(rate: float) -> None:
    assert refused(learningrate=rate) == f"--learningrate {rate}: must be a number of at least 0"


@pytest.mark.parametrize("name", ["lbfgs", "sparseadam", "optimizer"])
def test_optimizer_that_cannot_train_raises_option_error(name: str) -> None:
    assert refused(optimizer=name) == f"--optimizer {name}: ParlAI cannot train with it; name another, such as adamw"


def test_optimizer_that_lacks_an_option_raises_option_error(tmp_path: Path) -> None:
    message = refused(optimizer="rprop", weight_decay=0.1, model_file=str(tmp_path / "model"))
    assert message.startswith("--optimizer rprop: ")
    assert message.endswith(
        "unexpected keyword argument 'weight_decay'; change its options, or name another, such as adamw"
    )


@pytest.mark.parametrize("name", ["cosine", "linear"])
def test_schedule_without_a_length_raises_option_error(tmp_path: Path, name: str) -> None:
    expected = f"--lr-scheduler {name}: the rate falls to 0 at the last step: set --max-train-steps"
    assert refused(lr_scheduler=name, model_file=str(tmp_path / "model")) == expected


def test_unrepaired_parlai_reports_neither_in_one_line() -> None:
    assert "raise ValueError('--lr-scheduler cosine requires" in source_of("parlai.nn.lr_scheduler")
    assert {"lbfgs", "sparseadam", "optimizer"} <= TorchAgent.optim_opts().keys(), "it lists whatever torch has"


def test_missing_model_file_raises_option_error() -> None:
    assert refused() == "--model-file is missing: name the file to save the model in, such as -mf model/first"


def test_model_file_that_is_a_folder_raises_option_error(tmp_path: Path) -> None:
    expected = f"--model-file {tmp_path} is a folder: name a file in it, such as {tmp_path}/model"
    assert refused(model_file=str(tmp_path)) == expected


def test_model_file_that_cannot_be_written_raises_option_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "busy").touch()
    assert refused(model_file=str(tmp_path / "busy" / "model")).endswith(
        "/busy/model cannot be written (File exists): name a file in another folder"
    )
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write anywhere
    assert refused(model_file=str(tmp_path / "model")).endswith(
        "/model cannot be written (Permission denied): name a file in another folder"
    )


def test_unrepaired_parlai_does_not_check_where_it_will_save() -> None:
    assert "access" not in source_of("parlai.scripts.train_model")


def test_missing_tensorboard_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "tensorboardX" else find(name))
    with pytest.raises(MissingDependencyError, match=r'pip install "parlai-empathy\[tensorboard\]"'):
        TrainModel.main(**TINY, tensorboard_log=True)


def test_agent_can_reject_options_before_training(tmp_path: Path) -> None:
    assert refused(model_file=str(tmp_path / "model"), batchsize=1).startswith(
        "--batchsize 1: each reply is compared with"
    )
    assert not (tmp_path / "model").exists()


# --- at the first validation -----------------------------------------------------------------------------------------


def test_unrepaired_parlai_does_not_check_validation_metric() -> None:
    assert "valid_report[opt['validation_metric']]" in source_of("parlai.scripts.train_model")


def test_unknown_validation_metric_keeps_checkpoint_to_resume_from(tmp_path: Path) -> None:
    model = tmp_path / "model"
    told = refused(model_file=str(model), validation_metric="mrrr")
    assert told == (
        "--validation-metric mrrr: the validation does not measure it; did you mean mrr? "
        "a checkpoint is saved: the same command with another metric resumes from it"
    )
    learnt = {path.name for path in tmp_path.iterdir()}
    assert {"model.checkpoint", "model.checkpoint.opt", "model.checkpoint.trainstats"} <= learnt
    assert "model" not in learnt, "nothing is the best yet"

    before = json.loads((tmp_path / "model.checkpoint.trainstats").read_text())
    TrainModel.main(**{**TINY, "num_epochs": 2}, model_file=str(model), validation_metric="mrr")
    after = json.loads((tmp_path / "model.trainstats").read_text())
    assert after["valid_reports"][0] == before["valid_reports"][0], "it went on, and did not begin anew"
    assert after["train_steps"] > before["train_steps"] > 0


def test_unknown_validation_metric_error_lists_available_metrics(tmp_path: Path) -> None:
    told = refused(validation_metric="nonsense", dict_file=str(tmp_path / "dict"))
    assert re.match(r"--validation-metric nonsense: the validation does not measure it; it measures accuracy, ", told)
    assert ", mrr, " in told
    assert "train_time" not in told
    assert told.endswith("; nothing is saved without --model-file")
