"""The model that people talk with: one agent, and a clone of it for each conversation.

In ParlAI's own page (``parlai interactive_web``) everybody talks with one agent, which mixes their histories. A clone
shares the agent's weights and has a history of its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from parlai.core.message import Message

from parlai_empathy.rating.desk.messages import Said, storable_reply
from parlai_empathy.rating.study.study import RATER


class StreamingAgent(Protocol):
    """An agent whose reply can be read while it is generated, such as ``empathy:in_context``."""

    def act_streaming(self, say: Callable[[str], None]) -> Message:
        """Like ``act``, but call ``say`` with the reply so far whenever it grows."""


class Partner:
    """Replies in many conversations.

    :param agent: ready to talk; only its clones reply.
    :param most: how many conversations keep their clone. The least recently active ones lose theirs; if they continue,
        they get a new clone, which first observes the history.
    """

    def __init__(self, agent: Any, most: int = 200) -> None:
        self._agent = agent
        self._limit = most
        self._clones: OrderedDict[str, tuple[Any, int]] = OrderedDict()  # and how many messages they know
        self._lock = threading.Lock()

    def reply(self, talk: str, said: Sequence[Said], say: Callable[[str], None] = lambda text: None) -> str:
        """Reply to the last message of a conversation.

        Several threads may call this at once, each for a different conversation.

        :param talk: the conversation's id.
        :param said: all messages, the person's and the agent's in turn; the last one has no reply yet.
        :param say: called with the reply so far, if the agent streams its replies.
        :returns: the reply; empty if the agent says nothing.
        """
        clone = self._clone(talk, said)
        clone.observe(_message(said[-1]))
        is_streaming = hasattr(clone, "act_streaming")
        act = clone.act_streaming(lambda text: say(storable_reply(text))) if is_streaming else clone.act()
        text = storable_reply(str(act.get("text") or ""))
        with self._lock:
            self._clones[talk] = (clone, len(said) + 1)
            while len(self._clones) > self._limit:
                self._clones.popitem(last=False)
        return text

    def forget(self, talk: str) -> None:
        """Forget a conversation's clone, because its last reply was not stored."""
        with self._lock:
            self._clones.pop(talk, None)

    def close(self) -> None:
        """Shut the agent down; it may log what its clones have used."""
        self._agent.shutdown()

    def _clone(self, talk: str, said: Sequence[Said]) -> Any:
        """Return the conversation's clone: the one that knows its history, or a new one that observes it first."""
        with self._lock:
            clone, known = self._clones.pop(talk, (None, 0))  # a clone that fails is not used again
        if clone is not None and known == len(said) - 1:
            return clone
        clone = self._agent.clone()
        clone.reset()
        for message, answer in zip(said[:-1:2], said[1::2], strict=False):
            clone.observe(_message(message))
            if hasattr(clone, "self_observe"):
                clone.self_observe(_message(answer))  # as if it had just given this reply
        return clone


def _message(said: Said) -> Message:
    speaker = RATER if said.speaker == RATER else "model"
    return Message({"id": speaker, "text": said.text, "episode_done": False})
