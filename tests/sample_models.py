"""Models of the samples, through ParlAI's own commands: evaluated, loaded, and what their files hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.agents import create_agent_from_model_file
from parlai.core.opt import Opt
from parlai.scripts.eval_model import EvalModel
from torch import Tensor

from parlai_empathy.agent_kit.trained.weights import load_model


def evaluate(model_file: Path, task: str = "empathy:empathetic_dialogues", **options: Any) -> dict[str, Any]:
    """The report of the sample's test fold."""
    settings = {"task": task, "edition": "sample", "datatype": "test", "loglevel": "error", **options}
    return EvalModel.main(model_file=str(model_file), **settings)  # type: ignore[no-any-return]


def load(model_file: Path, **options: Any) -> Any:
    """The agent of a model."""
    return create_agent_from_model_file(str(model_file), Opt({"loglevel": "error", **options}))


def weights(model_file: Path) -> dict[str, Tensor]:
    """What a model's file holds, read without executing anything."""
    return dict(load_model(str(model_file), lambda _: None)["model"])
