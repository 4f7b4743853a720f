"""A resumed training keeps its best model and its count of steps, and draws other examples than at its beginning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from parlai.scripts import train_model as train_model_module
from parlai_as_it_comes import unrepaired
from short_training import ONCE, TINY, stats_of, validated, weights

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent

METRIC = "mrr"  # by which the best model is chosen


def spoil_the_checkpoint(folder: Path) -> None:
    """Zero a finished training's checkpoint, as after a bad last epoch; no later score beats its best."""
    checkpoint = torch.load(folder / "model.checkpoint", weights_only=False)
    checkpoint["model"] = {name: torch.zeros_like(weights) for name, weights in checkpoint["model"].items()}
    torch.save(checkpoint, folder / "model.checkpoint")
    path = folder / "model.checkpoint.trainstats"
    stats = json.loads(path.read_text())
    stats["best_valid"] = stats["valid_reports"][0][METRIC] = 2.0  # the metric is at most 1
    path.write_text(json.dumps(stats))


def kept_its_best(module: Any, folder: Path) -> bool:
    """Train, spoil the checkpoint, and train one more epoch; return whether the model is unchanged."""
    validated(train_model_module, folder, **ONCE)
    before = weights(folder)
    spoil_the_checkpoint(folder)
    validated(module, folder, **{**ONCE, "num_epochs": 2})
    after = weights(folder)
    return all(torch.equal(before[name], after[name]) for name in before)


def test_resumed_training_keeps_its_best_model(tmp_path: Path) -> None:
    assert kept_its_best(train_model_module, tmp_path)


def test_unrepaired_parlai_overwrites_best_model_with_last(tmp_path: Path) -> None:
    assert not kept_its_best(unrepaired("parlai.scripts.train_model"), tmp_path)


def test_resumed_training_final_report_is_of_the_best_model(tmp_path: Path) -> None:
    validated(train_model_module, tmp_path, **ONCE)
    of_the_best = stats_of(tmp_path)["final_valid_report"]["loss"]
    spoil_the_checkpoint(tmp_path)
    validated(train_model_module, tmp_path, **{**ONCE, "num_epochs": 2})
    stats = stats_of(tmp_path)
    assert stats["valid_reports"][-1]["loss"] != pytest.approx(of_the_best)
    assert stats["final_valid_report"]["loss"] == pytest.approx(of_the_best)


def best_of_each_metric(module: Any, folder: Path) -> tuple[float, float]:
    """Take two steps and then two more, with another validation metric; return the best value of each."""
    validated(train_model_module, folder, max_train_steps=2, batchsize=8, validation_metric="loss")
    first = stats_of(folder)["best_valid"]
    validated(module, folder, max_train_steps=4, batchsize=8, validation_metric=METRIC)
    return first, stats_of(folder)["best_valid"]


def test_resumed_training_with_another_metric_chooses_its_best_model_anew(tmp_path: Path) -> None:
    first, second = best_of_each_metric(train_model_module, tmp_path)
    assert first > 1
    assert second == stats_of(tmp_path)["valid_reports"][-1][METRIC] < 1
    last = torch.load(tmp_path / "model.checkpoint", weights_only=False)["model"]
    assert all(torch.equal(last[name], weight) for name, weight in weights(tmp_path).items())


def test_unrepaired_parlai_compares_different_metrics(tmp_path: Path) -> None:
    first, second = best_of_each_metric(unrepaired("parlai.scripts.train_model"), tmp_path)
    assert first == second > 1


OTHER = "empathy:empathetic_dialogues:BothRoles"


def resumed_on_other_task(module: Any, folder: Path, **tasks: str) -> float | None:
    """Take two steps, and then begin again with other tasks; return the best value so far."""
    options = {**TINY, "batchsize": 8, "model_file": str(folder / "model"), "save_after_valid": True}
    module.TrainModel.main(**options, max_train_steps=2)
    options = {**options, "dict_file": str(folder / "model.dict"), **tasks}
    best: float | None = module.TrainLoop(train_model_module.setup_args().parse_kwargs(**options)).best_valid
    return best


@pytest.mark.parametrize(
    ("tasks", "is_comparable"),
    [
        ({}, True),
        ({"task": OTHER}, False),
        ({"evaltask": OTHER}, False),
        ({"task": OTHER, "evaltask": TINY["task"]}, True),
    ],
)
def test_resumed_training_compares_values_only_of_the_same_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: dict[str, str], is_comparable: bool
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(train_model_module.logging, "warning", warned.append)
    best = resumed_on_other_task(train_model_module, tmp_path, **tasks)
    assert best == (stats_of(tmp_path)["best_valid"] if is_comparable else None)
    assert any("--init-model" in line and OTHER in line for line in warned) is not is_comparable


def test_best_model_on_another_task_is_chosen_anew_only_once(tmp_path: Path) -> None:
    options = {"batchsize": 8, "save_after_valid": True}
    validated(train_model_module, tmp_path, **options, max_train_steps=2)
    spoil_the_checkpoint(tmp_path)
    validated(train_model_module, tmp_path, **options, max_train_steps=4, task=OTHER)
    best = stats_of(tmp_path)["best_valid"]
    assert best < 2, "the old task's is not reached"
    assert stats_of(tmp_path)["train_steps"] == 4, "the model is that of the new task"
    again = {**TINY, **options, "task": OTHER, "model_file": str(tmp_path / "model")}
    again["dict_file"] = str(tmp_path / "model.dict")
    loop = train_model_module.TrainLoop(train_model_module.setup_args().parse_kwargs(**again))
    assert loop.best_valid == best


def test_unrepaired_parlai_compares_different_tasks(tmp_path: Path) -> None:
    best = resumed_on_other_task(unrepaired("parlai.scripts.train_model"), tmp_path, task=OTHER)
    assert best == stats_of(tmp_path)["best_valid"]


def test_resumed_training_keeps_validation_schedule(tmp_path: Path) -> None:
    options = {"batchsize": 8, "validation_every_n_steps": 4, "save_after_valid": True}
    assert validated(train_model_module, tmp_path, **options, max_train_steps=4) == [4]
    assert validated(train_model_module, tmp_path, **options, max_train_steps=8) == [4, 8]


def save_after(folder: Path, model: int, checkpoint: int) -> None:
    """Save a model and its checkpoint, whose weights are 0, as if after that many steps."""
    validated(train_model_module, folder, max_train_steps=4, batchsize=8)
    spoil_the_checkpoint(folder)
    for ending, steps in (("", model), (".checkpoint", checkpoint)):
        stats = folder / f"model{ending}.trainstats"
        stats.write_text(json.dumps({**json.loads(stats.read_text()), "train_steps": steps}))


def resumed(module: Any, folder: Path) -> tuple[int, str]:
    """Begin a training again; return the steps that it counts, and from which file it goes on."""
    options = {**TINY, "batchsize": 8, "model_file": str(folder / "model"), "dict_file": str(folder / "model.dict")}
    loop = module.TrainLoop(train_model_module.setup_args().parse_kwargs(**options))
    has_weights = any(weights.any() for weights in loop.agent.model.parameters())
    return loop._train_steps, "model" if has_weights else "checkpoint"


def test_training_resumes_from_model_or_checkpoint_whichever_is_newer(tmp_path: Path) -> None:
    save_after(tmp_path, model=2, checkpoint=4)
    assert resumed(train_model_module, tmp_path) == (4, "checkpoint")
    save_after(tmp_path, model=4, checkpoint=2)
    assert resumed(train_model_module, tmp_path) == (4, "model")
    assert resumed(unrepaired("parlai.scripts.train_model"), tmp_path) == (2, "checkpoint")
    (tmp_path / "model").unlink()
    assert resumed(train_model_module, tmp_path) == (2, "checkpoint")


def examples_of(module: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> list[str]:
    """Train up to a step; return the texts of the examples, batch after batch."""
    texts: list[str] = []
    batchify = RetrievalAgent.batchify

    def noted(self: Any, observations: Any, *args: Any, **kwargs: Any) -> Any:
        texts.extend(observation["text"] for observation in observations if "labels" in observation)
        return batchify(self, observations, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(RetrievalAgent, "batchify", noted)
        validated(module, folder, max_train_steps=steps, batchsize=8, seed=1)
    return texts


def test_resumed_training_with_seed_draws_other_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = examples_of(train_model_module, tmp_path / "one", monkeypatch, steps=3)
    assert len(first) == 24
    assert examples_of(train_model_module, tmp_path / "same", monkeypatch, steps=3) == first
    second = examples_of(train_model_module, tmp_path / "one", monkeypatch, steps=6)
    assert len(second) == 24
    # Of 624 examples, 24 drawn twice at random have one in common on average, and five or more once in 400 times.
    assert len({*first} & {*second}) < 5
    assert examples_of(train_model_module, tmp_path / "same", monkeypatch, steps=6) == second


def test_unrepaired_parlai_draws_first_examples_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = examples_of(train_model_module, tmp_path, monkeypatch, steps=3)
    assert examples_of(unrepaired("parlai.scripts.train_model"), tmp_path, monkeypatch, steps=6) == first


def steps_and_updates(module: Any, folder: Path, update_freq: dict[str, int]) -> list[int]:
    """Take two steps of two batches each, resume with ``update_freq``; return the loop's steps and the agent's."""
    options = {**TINY, "batchsize": 32, "model_file": str(folder / "model"), "save_after_valid": True}
    module.TrainModel.main(**options, max_train_steps=2, update_freq=2)
    module.TrainModel.main(**options, max_train_steps=5, **update_freq)
    last = json.loads((folder / "model.checkpoint.trainstats").read_text())["valid_reports"][-1]
    return [last["train_steps"], last["total_train_updates"]]


@pytest.mark.parametrize("update_freq", [{"update_freq": 2}, {"update_freq": 3}, {"update_freq": 1}, {}])
def test_resumed_training_continues_step_count(tmp_path: Path, update_freq: dict[str, int]) -> None:
    assert steps_and_updates(train_model_module, tmp_path, update_freq) == [5, 5]


def test_unrepaired_parlai_counts_steps_not_taken(tmp_path: Path) -> None:
    options = {**TINY, "batchsize": 32, "model_file": str(tmp_path / "model"), "dict_file": str(tmp_path / "dict")}
    train_model_module.TrainModel.main(**options, max_train_steps=2, update_freq=2)
    options = train_model_module.setup_args().parse_kwargs(**options, update_freq=1)
    for module, steps in ((train_model_module, 3), (unrepaired("parlai.scripts.train_model"), 5)):
        loop = module.TrainLoop(options)
        assert (loop.parleys + 1) // loop.update_freq == steps  # after the next batch
