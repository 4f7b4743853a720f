"""The input of a language model: a text to continue or a chat to answer, and the sampling options."""

from __future__ import annotations

import math
from dataclasses import dataclass

from parlai_empathy.errors import OptionError

ROLES = ("system", "user", "assistant")


@dataclass(frozen=True)
class Message:
    """One message of a chat.

    :param role: ``system`` (instructions to the model), ``user`` or ``assistant`` (the model itself).
    """

    role: str
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise OptionError(f"a message of role {self.role!r}: must be one of {', '.join(ROLES)}")


Prompt = str | tuple[Message, ...]
"""A text to continue, or a chat to answer."""


def without_system_role(chat: tuple[Message, ...]) -> tuple[Message, ...]:
    """Move a leading system message to the head of the user's first message, for models without a system role.

    If the chat goes on with the assistant, it becomes a user message before that.
    """
    if not chat or chat[0].role != "system":
        return chat
    system, *others = chat
    text = system.content
    if others and others[0].role == "user":
        text += f"\n\n{others.pop(0).content}"
    return (Message("user", text), *others)


@dataclass(frozen=True)
class Sampling:
    """Sampling options, with OpenAI's names and meanings. The defaults are those of Lee et al. 2022.

    :param temperature: 0..2; the logits are divided by it. 0 is greedy decoding.
    :param top_p: above 0, up to 1; nucleus sampling: only the most probable tokens whose probabilities add up to it.
    :param max_tokens: the maximum number of tokens to generate.
    :param frequency_penalty: -2..2, subtracted from a token's logit for each occurrence in the answer so far.
    :param presence_penalty: -2..2, subtracted once from the logit of a token that occurs in the answer so far.
    :param stop: texts that end the answer; they are not part of it.
    :param seed: makes the answer reproducible. A server may ignore it.
    """

    temperature: float = 0.8
    top_p: float = 1.0
    max_tokens: int = 128
    frequency_penalty: float = 0.4
    presence_penalty: float = 0.4
    stop: tuple[str, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, low, high in (("temperature", 0, 2), ("frequency_penalty", -2, 2), ("presence_penalty", -2, 2)):
            value = getattr(self, name)
            if not (math.isfinite(value) and low <= value <= high):
                raise OptionError(f"{name} {value}: must be from {low} to {high}")
        if not 0 < self.top_p <= 1:
            raise OptionError(f"top_p {self.top_p}: must be above 0, and at most 1")
        if self.max_tokens < 1:
            raise OptionError(f"max_tokens {self.max_tokens}: must be 1 or more")
        if isinstance(self.stop, str) or not all(self.stop):
            raise OptionError(f"stop {self.stop!r}: must be a list of non-empty texts")
