"""Asking questions of a ParlAI agent, such as a person at a terminal."""

from __future__ import annotations

from enum import Enum
from typing import Any

from parlai.core.message import Message

WORLD = "study"
"""The id of the messages that a world sends to its raters."""


class Command(Enum):
    """What a rater can type instead of an answer."""

    BACK = "back"
    QUIT = "quit"


def show(agent: Any, text: str, speaker: str = WORLD) -> None:
    """Let an agent observe a text."""
    agent.observe(Message({"id": speaker, "text": text, "episode_done": False}))


def ask(agent: Any, text: str, speaker: str = WORLD) -> str | Command:
    """Show a text and return the agent's answer.

    An agent that ends the conversation (by the end of its input, or by ``[EXIT]`` or ``[DONE]`` in ParlAI's
    ``local_human``) has quit.
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
