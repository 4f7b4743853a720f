"""A training keeps the model with the lowest value of a metric of which less is better."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from parlai.core.metrics import AverageMetric
from parlai.scripts import train_model as train_model_module
from parlai_as_it_comes import unrepaired
from short_training import stats_of, validated

MODEL = {"model": "empathy:generative", "ppl_protocol": "peers", "skip_generation": True, "seed": 1}
FALLING = {"batchsize": 100, "max_train_steps": 3, "validation_every_n_steps": 1, "learningrate": 0.01}
TWO_TASKS = "empathy:empathetic_dialogues,empathy:empathetic_dialogues:BothRoles"


def measured(module: Any, folder: Path, metric: str, **options: Any) -> tuple[list[float], float]:
    """Take three steps that improve the model; return the metric's values, and what the training takes for the best."""
    validated(module, folder, **MODEL, **FALLING, warmup_updates=-1, validation_metric=metric, **options)
    stats = json.loads((folder / "model.checkpoint.trainstats").read_text())
    values = [report[metric] for report in stats["valid_reports"]]
    assert values[0] > values[1] >= values[-1], "otherwise this tests nothing"
    return values, stats["best_valid"]


@pytest.mark.parametrize(
    ("metric", "options"),
    [("ppl_peers", {}), (f"{TWO_TASKS.split(',')[1]}/ppl", {"task": TWO_TASKS})],
)
def test_lowest_value_is_the_best(tmp_path: Path, metric: str, options: dict[str, Any]) -> None:
    values, best = measured(train_model_module, tmp_path, metric, **options)
    assert best == values[-1]
    assert stats_of(tmp_path)["train_steps"] == 3, "the model is that of the last step"
    # An agent that is resumed with another metric reads its saved options.
    assert json.loads((tmp_path / "model.opt").read_text())["validation_metric_mode"] is None


def test_given_mode_is_followed(tmp_path: Path) -> None:
    values, best = measured(train_model_module, tmp_path, "ppl_peers", validation_metric_mode="max")
    assert best == values[0]


def test_unrepaired_parlai_keeps_the_worst_model(tmp_path: Path) -> None:
    values, best = measured(unrepaired("parlai.scripts.train_model"), tmp_path, "ppl_peers")
    assert best == values[0]


def undefined_at_first(module: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Take three steps, of which the first is validated as NaN; return the training's record."""
    evaluate = module.TrainLoop._run_eval

    def _run_eval(self: Any, *args: Any, **kwargs: Any) -> Any:
        return {**evaluate(self, *args, **kwargs), **({} if self.valid_reports else {"ppl": AverageMetric(math.nan)})}

    monkeypatch.setattr(module.TrainLoop, "_run_eval", _run_eval)
    validated(module, folder, **MODEL, **FALLING, warmup_updates=-1, validation_metric="ppl")
    stats: dict[str, Any] = json.loads((folder / "model.checkpoint.trainstats").read_text())
    return stats


def test_any_number_is_better_than_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stats = undefined_at_first(train_model_module, tmp_path, monkeypatch)
    values = [report["ppl"] for report in stats["valid_reports"]]
    assert math.isnan(values[0])
    assert stats["best_valid"] == values[-1] == min(values[1:])
    assert stats_of(tmp_path)["train_steps"] == 3, "the model is that of the last step"


def test_unrepaired_parlai_keeps_a_model_without_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stats = undefined_at_first(unrepaired("parlai.scripts.train_model"), tmp_path, monkeypatch)
    assert math.isnan(stats["best_valid"])
