"""An agent that replies with its whole history, so that a test can see whose history it has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from parlai.core.agents import Agent


class RememberingAgent(Agent):
    """Replies with all messages so far, separated by `` / ``. These words in a message change its behaviour:

    ``SLOW`` waits until :attr:`go_on` is set, ``FAIL`` raises an error until then, ``SILENT`` gives an empty reply,
    ``SAY x`` replies x.
    """

    def __init__(self, opt: Any = None, shared: Any = None) -> None:
        super().__init__(opt or {}, shared)
        self.heard: list[str] = []
        self.go_on: threading.Event = shared["go_on"] if shared else threading.Event()
        self.family: list[RememberingAgent] = shared["family"] if shared else []
        self.family.append(self)

    def share(self) -> dict[str, Any]:
        return {**super().share(), "go_on": self.go_on, "family": self.family}

    def reset(self) -> None:
        self.heard = []

    def observe(self, observation: Any) -> Any:
        self.heard.append(observation["text"])
        return observation

    def self_observe(self, observation: Any) -> None:
        self.heard.append(f"({observation['text'][:3]})")

    def act(self) -> dict[str, Any]:
        last = self.heard[-1]
        if "SLOW" in last:
            assert self.go_on.wait(20)
        if "FAIL" in last and not self.go_on.is_set():
            raise ValueError(f"cannot answer {last}")
        text = "" if "SILENT" in last else last.partition("SAY ")[2] or " / ".join(self.heard)
        self.self_observe({"text": text})
        return {"id": "remembering", "text": text, "episode_done": False}


class StreamingAgent(RememberingAgent):
    """Streams its reply word by word."""

    def act_streaming(self, say: Callable[[str], None]) -> dict[str, Any]:
        act = self.act()
        words = act["text"].split()
        for count in range(1, len(words) + 1):
            say(" ".join(words[:count]))
        return act
