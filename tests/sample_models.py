"""Models of the samples, through ParlAI's own commands: evaluated, loaded, and what their files hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.agents import create_agent_from_model_file, create_agent_from_shared
from parlai.core.message import Message
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


def copy_of(model_file: Path, folder: Path) -> Path:
    """A copy of a model's files, which a test may break."""
    for suffix in ("", ".opt", ".dict", ".pool"):
        if Path(f"{model_file}{suffix}").is_file():
            (folder / f"model{suffix}").write_bytes(Path(f"{model_file}{suffix}").read_bytes())
    return folder / "model"


def check_copy(model_file: Path, text: str, field: str = "text") -> None:
    """A copy of an agent, such as each place in a batch has, shares its model and answers as the agent does."""
    agent = load(model_file)
    copy = create_agent_from_shared(agent.share())
    assert copy.model is agent.model
    for each in (agent, copy):
        each.observe(Message({"text": text, "episode_done": True}))
    assert copy.act()[field] == agent.act()[field]


class Bomb:
    """What a stranger's file may hold: something that acts when it is unpickled."""

    def __init__(self, victim: Path) -> None:
        self.victim = victim

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self.victim,)
