"""Loading the models that people chat with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent
from parlai_empathy.rating.study.study import ChatModel


def load_chat_models(models: Sequence[ChatModel], datapath: str | None = None) -> dict[str, Any]:
    """Load trained agents in interactive mode, by name. That takes long, so all of their files are checked first.

    :param models: their files are paths, or names in the zoo if there is a ``datapath``.
    :raises ModelFileError: if one is missing or cannot be loaded.
    """
    paths = {
        one.name: check_agent(one.file, "act", "cannot answer: name a model that replies", datapath) for one in models
    }
    return {name: load_agent(path, {"interactive_mode": True}) for name, path in paths.items()}
