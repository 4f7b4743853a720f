"""A training ends with a validation of what it learnt last, and a resumed one keeps what was best."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.scripts import train_model as train_model_module
from parlai_as_it_comes import unrepaired
from tiny_parts import SIZES, TASK

TINY: dict[str, Any] = {**TASK, **SIZES, "model": "empathy:retrieval"}


def validated(module: Any, folder: Path, **options: Any) -> list[int]:
    """Train with a module's loop; returns after how many steps it validated."""
    module.TrainModel.main(**TINY, **options, model_file=str(folder / "model"))
    stats = json.loads((folder / "model.trainstats").read_text())
    return [report["train_steps"] for report in stats["valid_reports"]]


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"num_epochs": 1, "batchsize": 300}, [1]),
        ({"max_train_steps": 3, "batchsize": 8}, [3]),
        ({"max_train_time": 0.001, "batchsize": 8}, [1]),
        ({"max_train_steps": 3, "batchsize": 8, "validation_every_n_steps": 2}, [2, 3]),
        # A schedule of the rate, which ends the training too.
        ({"max_train_steps": 3, "batchsize": 8, "lr_scheduler": "linear", "warmup_updates": 1}, [2]),
    ],
)
def test_a_training_ends_with_a_validation(tmp_path: Path, options: dict[str, Any], steps: list[int]) -> None:
    found = validated(train_model_module, tmp_path, **options)
    assert found[:-1] == steps[:-1]
    assert found[-1] >= steps[-1]


def test_the_end_is_logged_once_and_whole(tmp_path: Path) -> None:
    validated(train_model_module, tmp_path, num_epochs=1, batchsize=100)
    reports = json.loads((tmp_path / "model.trainstats").read_text())["train_reports"]
    assert [(report["train_steps"], report["exs"]) for report in reports] == [(7, 700)]  # 624 examples, in hundreds


def test_what_was_validated_at_the_last_step_is_not_validated_again(tmp_path: Path) -> None:
    options = {"max_train_steps": 3, "batchsize": 8, "lr_scheduler": "linear", "warmup_updates": 1}
    assert validated(train_model_module, tmp_path, **options, validation_every_n_steps=1) == [1, 2]


def test_who_does_not_want_validations_gets_none(tmp_path: Path) -> None:
    never = {"validation_every_n_epochs": -1}
    assert validated(train_model_module, tmp_path, max_train_steps=2, batchsize=8, **never) == []


def test_still_needed_parlai_ends_without_validating_what_it_learnt_last(tmp_path: Path) -> None:
    module = unrepaired("parlai.scripts.train_model")
    assert validated(module, tmp_path, max_train_steps=3, batchsize=8) == []


# --- the best model stays --------------------------------------------------------------------------------------------


def spoil_the_checkpoint(folder: Path) -> None:
    """Other weights in the checkpoint of a training that is over, as after a bad last epoch; nothing beats its best."""
    checkpoint = torch.load(folder / "model.checkpoint", weights_only=False)
    checkpoint["model"] = {name: torch.zeros_like(weights) for name, weights in checkpoint["model"].items()}
    torch.save(checkpoint, folder / "model.checkpoint")
    stats = folder / "model.checkpoint.trainstats"
    stats.write_text(json.dumps({**json.loads(stats.read_text()), "best_valid": 2.0}))  # of what is at most 1


def trained_again(module: Any, folder: Path) -> bool:
    """Train to the end, spoil the checkpoint, run the same command again: whether the model is still what it was."""
    options = {"num_epochs": 1, "batchsize": 100, "save_after_valid": True}
    validated(train_model_module, folder, **options)
    before = torch.load(folder / "model", weights_only=False)["model"]
    spoil_the_checkpoint(folder)
    validated(module, folder, **options)
    after = torch.load(folder / "model", weights_only=False)["model"]
    return all(torch.equal(before[name], after[name]) for name in before)


def test_a_training_that_is_run_again_keeps_its_best_model(tmp_path: Path) -> None:
    assert trained_again(train_model_module, tmp_path)


def test_still_needed_parlai_puts_the_last_model_in_the_place_of_the_best(tmp_path: Path) -> None:
    assert not trained_again(unrepaired("parlai.scripts.train_model"), tmp_path)
