"""What was said in a conversation, which a chat does not say again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parlai.core.message import Message
from parlai.core.torch_agent import History, TorchAgent


class Conversation(History):
    """A ParlAI history that also knows the lines that ``--history-size`` no longer keeps."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.said: set[str] = set()
        """All lines of the conversation, by both sides."""

    def reset(self) -> None:
        """Begin a new conversation."""
        super().reset()
        self.said = set()

    def _update_raw_strings(self, text: str) -> None:
        super()._update_raw_strings(text)
        self.said.update(text.split("\n"))


class Remembering(TorchAgent):
    """An agent whose messages tell what was said in their conversation (``said``): a batch has messages of several."""

    @classmethod
    def history_class(cls) -> type[Conversation]:
        """Return a history that knows everything said."""
        return Conversation

    def vectorize(self, obs: Message, history: Conversation, **kwargs: Any) -> Message:
        """Also set ``said``."""
        obs = super().vectorize(obs, history, **kwargs)
        obs.force_set("said", history.said)
        return obs


def without_repeats(ranked: Sequence[Sequence[str]], messages: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the replies to each message without lines of its conversation, unless there is nothing else to say.

    :param messages: each with its conversation's lines in ``said``.
    """
    return [
        [text for text in texts if text not in message["said"]] or list(texts)
        for texts, message in zip(ranked, messages, strict=True)
    ]
