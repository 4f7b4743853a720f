"""A scripted rater, as a ParlAI agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from parlai.core.agents import Agent
from parlai.core.message import Message


class ScriptedRater(Agent):
    """Says one line after another, then ends the conversation; records all that it was shown.

    :param lines: what it says; a callable gets what was shown so far, and returns the line.
    """

    def __init__(self, lines: Iterable[str | Callable[[str], str]]) -> None:
        super().__init__({})
        self.lines = iter(lines)
        self.seen: list[str] = []

    def observe(self, observation: Message) -> Message:
        self.seen.append(f"{observation['id']}: {observation['text']}")
        return observation

    def act(self) -> dict[str, Any]:
        line = next(self.lines, None)
        if line is None:
            return {"episode_done": True}
        return {"id": "rater", "text": line if isinstance(line, str) else line("\n".join(self.seen))}

    def saw(self, text: str) -> bool:
        return any(text in one for one in self.seen)


def run(world: Any, at_most: int = 500) -> None:
    """Run a world to its end."""
    for _ in range(at_most):
        if world.epoch_done():
            return
        world.parley()
    raise AssertionError("the world does not end")
