"""Loading the models that people chat with."""

from __future__ import annotations

from typing import Any

from parlai_empathy.agent_kit.trained.agent import check_agent, load_agent


def load_chat_model(file: str, datapath: str | None = None) -> Any:
    """Load a trained agent in interactive mode.

    :param file: a path, or a name in the zoo if there is a ``datapath``.
    :raises ModelFileError: if it is missing or cannot be loaded.
    """
    path = check_agent(file, "act", "cannot answer: name a model that replies", datapath)
    return load_agent(path, {"interactive_mode": True})
