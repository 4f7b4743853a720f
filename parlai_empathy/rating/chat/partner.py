"""The model that people talk with: one agent, and a clone of it for each conversation.

ParlAI's own page (``parlai interactive_web``) lets everybody talk with one agent, whose history is then everybody's. A
clone shares the agent's weights and has a history of its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from parlai.core.message import Message

from parlai_empathy.rating.answering import Said
from parlai_empathy.rating.worlds.chat import RATER

LONGEST_REPLY = 8000
"""Characters; what is longer is cut."""


class StreamingAgent(Protocol):
    """An agent whose reply can be read while it is written, such as ``empathy:in_context``."""

    def act_streaming(self, say: Callable[[str], None]) -> Message:
        """Like ``act``, but say what there is of the reply so far, whenever there is more."""


class Partner:
    """Answers in many conversations.

    :param agent: ready to talk; it says nothing itself.
    :param most: how many conversations keep their clone. Those that were silent longest lose theirs, and get a new one
        that is told what was said.
    """

    def __init__(self, agent: Any, most: int = 200) -> None:
        self._agent = agent
        self._most = most
        self._clones: OrderedDict[str, tuple[Any, int]] = OrderedDict()  # with how many messages they know
        self._lock = threading.Lock()

    def reply(self, talk: str, said: Sequence[Said], say: Callable[[str], None] = lambda text: None) -> str:
        """Answer the last message of a conversation.

        Several threads may do so at once, each in another conversation.

        :param talk: the conversation's id.
        :param said: all messages; people's and the agent's take turns, and the last is not answered yet.
        :param say: is told what there is of the reply, where the agent writes bit by bit.
        :returns: the reply; empty if the agent says nothing.
        """
        clone = self._clone(talk, said)
        clone.observe(_message(said[-1]))
        is_streaming = hasattr(clone, "act_streaming")
        act = clone.act_streaming(lambda text: say(_fit(text))) if is_streaming else clone.act()
        text = _fit(str(act.get("text") or ""))
        with self._lock:
            self._clones[talk] = (clone, len(said) + 1)
            while len(self._clones) > self._most:
                self._clones.popitem(last=False)
        return text

    def _clone(self, talk: str, said: Sequence[Said]) -> Any:
        """The conversation's clone: the one that has listened so far, or a new one that is told everything."""
        with self._lock:
            clone, known = self._clones.pop(talk, (None, 0))  # if it fails now, it is not used again
        if clone is not None and known == len(said) - 1:
            return clone
        clone = self._agent.clone()
        clone.reset()
        for message, answer in zip(said[:-1:2], said[1::2], strict=False):
            clone.observe(_message(message))
            if hasattr(clone, "self_observe"):
                clone.self_observe(_message(answer))  # as if it had just said so
        return clone


def _fit(text: str) -> str:
    """A reply as it can be stored, and as it is shown before."""
    return text.replace("\0", "").strip()[:LONGEST_REPLY].strip()


def _message(said: Said) -> Message:
    speaker = RATER if said.speaker == RATER else "model"
    return Message({"id": speaker, "text": said.text, "episode_done": False})
