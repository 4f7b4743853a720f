"""What a language model gave back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parlai_empathy.files.text_file import as_unicode


@dataclass(frozen=True)
class Completion:
    """A text that a model wrote.

    :param text: without the stop text at which it ended.
    :param finish: ``stop``: the model ended it, or a stop text did; ``length``: no more tokens were allowed.
    :param prompt_tokens: how many tokens were read; an estimate where a server does not say.
    :param completion_tokens: how many were written; what made the model stop may be among them.
    :param cached: whether it was written earlier, and nothing was asked of the model now.
    """

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    cached: bool = False


@dataclass(frozen=True)
class NoAnswer:
    """The model answered, but with nothing that can be used. It is to be counted, never scored.

    :param reason: a few words, such as ``an empty text``.
    """

    reason: str


Answer = Completion | NoAnswer


def cut_at_stop(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text before the first of the stop texts that occurs in it.

    :returns: the text, and whether there was one.
    """
    places = [place for place in (text.find(one) for one in stop) if place >= 0]
    return (text[: min(places)], True) if places else (text, False)


def answer_of(text: str, finish: str, prompt_tokens: int, completion_tokens: int) -> Answer:
    """A text as an answer. One of nothing but spaces is none; half a character, where it was cut, becomes ``?``."""
    text = as_unicode(text)
    if not text.strip():
        return NoAnswer("an empty text")
    return Completion(text, finish, prompt_tokens, completion_tokens)
