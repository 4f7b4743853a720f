"""A rater at a terminal, as a ParlAI agent."""

from __future__ import annotations

import io
import sys
from typing import Any

from parlai.core.agents import Agent
from parlai.core.message import Message
from parlai.core.opt import Opt

from parlai_empathy.rating.worlds.talking import WORLD


class TerminalRater(Agent):
    """Prints what it observes and reads one line for each answer.

    :param name: the rater's name, printed before each message if two people share a terminal; empty otherwise.
    """

    def __init__(self, opt: Opt, shared: Any = None, name: str = "") -> None:
        super().__init__(opt, shared)
        self.id = name or "rater"
        self._name = name
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")  # what is not UTF-8 is an invalid answer, not an error

    def observe(self, observation: Message) -> Message:
        """Print the message, with its speaker's name unless that is the study itself."""
        speaker = observation.get("id", WORLD)
        whom = f"[to {self._name}] " if self._name else ""
        own = f"\n{whom}{observation['text']}"
        print(own if speaker == WORLD else f"{whom}{speaker}: {observation['text']}", flush=True)
        return observation

    def act(self) -> Message:
        """Read a line; the end of the input, or Ctrl-C, ends the conversation."""
        try:
            return Message({"id": self.id, "text": input(f"{self._name}> "), "episode_done": False})
        except (EOFError, KeyboardInterrupt):
            return Message({"id": self.id, "episode_done": True})
