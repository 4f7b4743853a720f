"""A training ends with a validation, and a finished one trains no further."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.scripts import train_model as train_model_module
from parlai_as_it_comes import unrepaired
from short_training import ONCE, stats_of, validated, weights


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"num_epochs": 1, "batchsize": 300}, [1]),
        ({"max_train_steps": 3, "batchsize": 8}, [3]),
        ({"max_train_time": 0.001, "batchsize": 8}, [1]),
        ({"max_train_steps": 3, "batchsize": 8, "validation_every_n_steps": 2}, [2, 3]),
        # A learning-rate schedule, which also ends the training.
        ({"max_train_steps": 3, "batchsize": 8, "lr_scheduler": "linear", "warmup_updates": 1}, [3]),
    ],
)
def test_training_ends_with_a_validation(tmp_path: Path, options: dict[str, Any], steps: list[int]) -> None:
    found = validated(train_model_module, tmp_path, **options)
    assert found[:-1] == steps[:-1]
    assert found[-1] >= steps[-1]


def test_final_train_report_is_logged_once(tmp_path: Path) -> None:
    validated(train_model_module, tmp_path, num_epochs=1, batchsize=100)
    reports = json.loads((tmp_path / "model.trainstats").read_text())["train_reports"]
    assert [(report["train_steps"], report["exs"]) for report in reports] == [(7, 700)]  # 624 examples, 100 a batch


def test_last_step_is_not_validated_twice(tmp_path: Path) -> None:
    options = {"max_train_steps": 3, "batchsize": 8, "lr_scheduler": "linear", "warmup_updates": 1}
    assert validated(train_model_module, tmp_path, **options, validation_every_n_steps=1) == [1, 2, 3]


def test_disabled_validation_is_not_run_at_the_end(tmp_path: Path) -> None:
    never = {"validation_every_n_epochs": -1}
    assert validated(train_model_module, tmp_path, max_train_steps=2, batchsize=8, **never) == []


def test_unrepaired_parlai_ends_without_validation(tmp_path: Path) -> None:
    module = unrepaired("parlai.scripts.train_model")
    assert validated(module, tmp_path, max_train_steps=3, batchsize=8) == []


# --- a finished training stays finished -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "end",
    [
        {"num_epochs": 1},
        {"max_train_steps": 3},
        {"max_train_steps": 3, "lr_scheduler": "linear", "warmup_updates": 1},
        {"max_train_time": 0.001},
        {"num_epochs": 9, "validation_every_n_steps": 1, "validation_patience": 1, "learningrate": 1e-9},
        {"num_epochs": 9, "validation_every_n_steps": 1, "validation_cutoff": 0.0},
        {"num_epochs": 9, "validation_every_n_steps": 1, "validation_metric": "loss", "validation_cutoff": 99.0},
    ],
)
def test_finished_training_is_only_evaluated_again(tmp_path: Path, end: dict[str, Any]) -> None:
    validated(train_model_module, tmp_path, **{**ONCE, **end})
    before, stats = weights(tmp_path), stats_of(tmp_path)
    (tmp_path / "model.test").unlink()
    validated(train_model_module, tmp_path, **{**ONCE, **end})
    again = stats_of(tmp_path)
    assert all(torch.equal(before[name], after) for name, after in weights(tmp_path).items())
    for key in ("parleys", "train_steps", "total_epochs", "valid_reports", "best_valid", "impatience"):
        assert again[key] == stats[key], key
    assert again["final_test_report"]["loss"] == pytest.approx(stats["final_test_report"]["loss"])
    assert (tmp_path / "model.test").is_file()


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ({"num_epochs": 1}, "it has 1.12 of --num-epochs 1: raise it to go on"),
        ({"num_epochs": 9, "max_train_steps": 2}, "it has 2 of --max-train-steps 2: raise it to go on"),
        (
            {"num_epochs": 9, "validation_every_n_steps": 1, "validation_patience": 1, "learningrate": 1e-9},
            "it has 1 of --validation-patience 1: raise it to go on",
        ),
        (
            {"num_epochs": 9, "validation_every_n_steps": 1, "validation_metric": "loss", "validation_cutoff": 99.0},
            "beyond --validation-cutoff 99: change that to go on",
        ),
    ],
)
def test_finished_training_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: dict[str, Any], told: str
) -> None:
    whole = {**ONCE, "batchsize": 700, **end}  # an epoch is 624 examples, so a batch is 1.12
    validated(train_model_module, tmp_path, **whole)
    warned: list[str] = []
    monkeypatch.setattr(train_model_module.logging, "warning", warned.append)
    validated(train_model_module, tmp_path, **whole)
    (line,) = [text for text in warned if "nothing is trained" in text]
    assert told in line
    assert line.endswith(", or start a new one from this model with --init-model")


def test_unrepaired_parlai_takes_another_step_after_finishing(tmp_path: Path) -> None:
    validated(train_model_module, tmp_path, **ONCE)
    steps = stats_of(tmp_path)["train_steps"]
    validated(unrepaired("parlai.scripts.train_model"), tmp_path, **ONCE)
    assert stats_of(tmp_path)["train_steps"] == steps + 1
