"""Models that are trained in a second, for tests of agents that are built on others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.message import Message
from parlai.scripts.train_model import TrainModel
from sample_models import load

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample", "loglevel": "error"}
SIZES: dict[str, Any] = {"embedding_size": 16, "n_heads": 2, "n_layers": 1, "ffn_size": 16}
# In float32, results do not depend on the composition of batches.
BRIEF: dict[str, Any] = {**TASK, "batchsize": 32, "max_train_steps": 4, "seed": 7, "precision": "float32"}


def train(model_file: Path, model: str, **options: Any) -> Path:
    """Train for a few steps; return the model file."""
    TrainModel.main(**{**BRIEF, "model": model, **options}, model_file=str(model_file))
    return model_file


def train_base(model_file: Path, model: str = "empathy:retrieval", **options: Any) -> Path:
    """Train a model that replies."""
    return train(model_file, model, **{**({} if "hf_model" in options else SIZES), **options})


def train_classifier(model_file: Path, **options: Any) -> Path:
    """Train a classifier of 32 emotions, well enough to distinguish some situations."""
    sizes = {"embedding_size": 8, "buckets": 500, "max_train_steps": -1, "num_epochs": 60, "learningrate": 1.0}
    task = "empathy:empathetic_dialogues:SituationEmotion"
    return train(model_file, "empathy:fasttext", **{**sizes, "task": task, **options})


def chat(model_file: Path, messages: list[str]) -> list[str]:
    """Return the replies of an interactive conversation, in which messages have only texts."""
    agent = load(model_file, interactive_mode=True)
    replies = []
    for message in messages:
        agent.observe(Message({"text": message, "episode_done": False}))
        replies.append(agent.act()["text"])
    return replies


def observed(agent: Any, *messages: dict[str, Any]) -> list[Message]:
    """Return messages as an agent observes them, each in a separate conversation."""
    observations = []
    for message in messages:
        observer = agent.clone()
        observations.append(observer.observe(Message({"episode_done": True, **message})))
    return observations


def move(model_file: Path, folder: Path) -> Path:
    """Move all files of a model to another folder; return the new model file."""
    folder.mkdir()
    for path in model_file.parent.glob(f"{model_file.name}*"):
        path.rename(folder / path.name)
    return folder / model_file.name
