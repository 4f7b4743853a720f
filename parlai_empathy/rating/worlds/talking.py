"""Asking a ParlAI agent something, whoever stands behind it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from parlai.core.message import Message

WORLD = "study"
"""The id under which a world speaks to its raters."""


class Command(Enum):
    """What a rater can say instead of an answer."""

    BACK = "back"
    QUIT = "quit"


def show(agent: Any, text: str, speaker: str = WORLD) -> None:
    """Let an agent see a text."""
    agent.observe(Message({"id": speaker, "text": text, "episode_done": False}))


def ask(agent: Any, text: str, speaker: str = WORLD) -> str | Command:
    """Show a text, and wait for what the agent says.

    An agent that ends the conversation (the end of the input, ``[EXIT]`` and ``[DONE]`` of ParlAI's ``local_human``)
    has quit.
    """
    if text:
        show(agent, text, speaker)
    try:
        act = agent.act()
    except StopIteration:
        return Command.QUIT
    said = act.get("text")
    if said is None:
        return Command.QUIT
    commands = {command.value: command for command in Command}
    return commands.get(str(said).strip().casefold(), str(said).strip())
