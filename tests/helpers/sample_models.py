"""Helpers for models that are trained on the samples: evaluate, load, copy, read weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.agents import create_agent_from_model_file, create_agent_from_shared
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.scripts.eval_model import EvalModel
from torch import Tensor

from parlai_empathy.agent_kit.trained.weights import read_model


def evaluate(model_file: Path, task: str = "empathy:empathetic_dialogues", **options: Any) -> dict[str, Any]:
    """Evaluate a model on the sample's test fold; return the report."""
    settings = {"task": task, "edition": "sample", "datatype": "test", "loglevel": "error", **options}
    return EvalModel.main(model_file=str(model_file), **settings)  # type: ignore[no-any-return]


def load(model_file: Path, **options: Any) -> Any:
    """Load a model's agent."""
    return create_agent_from_model_file(str(model_file), Opt({"loglevel": "error", **options}))


def weights(model_file: Path) -> dict[str, Tensor]:
    """Return a model file's weights, loaded without executing code."""
    return dict(read_model(str(model_file))["model"])


def copy_of(model_file: Path, folder: Path) -> Path:
    """Copy a model's files, so that a test may damage them; return the copy."""
    for suffix in ("", ".opt", ".dict", ".pool"):
        if Path(f"{model_file}{suffix}").is_file():
            (folder / f"model{suffix}").write_bytes(Path(f"{model_file}{suffix}").read_bytes())
    return folder / "model"


def check_copy(model_file: Path, text: str, field: str = "text") -> None:
    """Assert that a shared copy of an agent, as for batches, has the same model object and gives the same answer."""
    agent = load(model_file)
    copy = create_agent_from_shared(agent.share())
    assert copy.model is agent.model
    for each in (agent, copy):
        each.observe(Message({"text": text, "episode_done": True}))
    assert copy.act()[field] == agent.act()[field]


class Bomb:
    """An object that executes code when it is unpickled, as an untrusted file may contain."""

    def __init__(self, victim: Path) -> None:
        self.victim = victim

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self.victim,)
