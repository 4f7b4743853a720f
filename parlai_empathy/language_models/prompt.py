"""What is asked of a language model: a text to be continued or a chat to be answered, and how to choose the words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from parlai_empathy.errors import OptionError

ROLES = ("system", "user", "assistant")


@dataclass(frozen=True)
class Message:
    """One message of a chat.

    :param role: ``system`` (what the model is to do), ``user`` or ``assistant`` (the model itself).
    """

    role: str
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise OptionError(f"a message of role {self.role!r}: must be one of {', '.join(ROLES)}")


Prompt = str | tuple[Message, ...]
"""A text to be continued, or a chat to be answered."""


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen, with OpenAI's names and meanings. The defaults are those of Lee et al. 2022.

    :param temperature: 0..2; the scores are divided by it. 0 takes the most probable token each time.
    :param top_p: above 0, up to 1: only the most probable tokens that have this share of the probability together.
    :param max_tokens: how many tokens to write at most.
    :param frequency_penalty: -2..2, taken off a token's score for each time that it was written.
    :param presence_penalty: -2..2, taken off a token's score once it was written.
    :param stop: texts before which the answer ends.
    :param seed: for the same answer again. A server may not keep to it.
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
            raise OptionError(f"top_p {self.top_p}: must be above 0, and 1 at most")
        if self.max_tokens < 1:
            raise OptionError(f"max_tokens {self.max_tokens}: must be 1 or more")
        if isinstance(self.stop, str) or not all(self.stop):
            raise OptionError(f"stop {self.stop!r}: must be texts that are not empty")
