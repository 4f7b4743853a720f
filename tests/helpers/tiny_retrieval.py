"""Brief trainings of a retrieval model on the built-in sample, and chats with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.agents import create_agent_from_model_file
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.scripts.train_model import TrainModel

TASK: dict[str, Any] = {"task": "empathy:empathetic_dialogues", "edition": "sample"}
TINY: dict[str, Any] = {
    **TASK,
    "model": "empathy:retrieval",
    "embedding_size": 16,
    "n_heads": 2,
    "n_layers": 1,
    "ffn_size": 16,
    "num_epochs": 2,
    "seed": 7,
    "precision": "float32",  # in which results do not depend on the composition of batches
    "loglevel": "error",
}


def train(model_file: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return TrainModel.main(**{**TINY, **changes}, model_file=str(model_file))  # type: ignore[no-any-return]


def chat_agent(model_file: Path) -> Any:
    return create_agent_from_model_file(str(model_file), Opt(interactive_mode=True))


def talk(agent: Any, messages: list[str]) -> list[str]:
    """Reply to the messages of one conversation, with history."""
    replies = []
    for message in messages:
        agent.observe(Message({"text": message, "episode_done": False}))
        replies.append(agent.act()["text"])
    return replies
