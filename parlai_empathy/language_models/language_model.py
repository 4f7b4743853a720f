"""What every language model can do here, whoever computes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from parlai_empathy.language_models.completion import Answer
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.telling import Say
from parlai_empathy.language_models.usage import Usage


class LanguageModel(Protocol):
    """A model that continues texts and answers chats."""

    @property
    def name(self) -> str:
        """The backend and the model, as in ``openai:gpt-4o``; for signatures of numbers."""

    @property
    def context_length(self) -> int | None:
        """How many tokens a prompt and its answer may have together; None if that is not known."""

    @property
    def usage(self) -> Usage:
        """What it was used for so far."""

    def count_tokens(self, prompt: Prompt) -> int:
        """How many tokens the prompt has. Where the model's tokenizer is not at hand, an estimate on the high side."""

    def complete(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
        """Answer prompts.

        :returns: one answer for each prompt, in their order.
        :raises LanguageModelError: if the model or its server fails for good. What is finished then is in the cache.
        """

    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt, and say what there is of the answer while it is written.

        :param say: is told longer and longer beginnings of the answer's text, never what a stop text cuts off. The
            whole of it may not be among them.
        :returns: the same answer as :meth:`complete` gives. It may be none, though something was said: a server's
            filter may take back what it has sent.
        :raises LanguageModelError: if the model or its server fails for good, perhaps in the middle of an answer.
        """


class Backend(LanguageModel, Protocol):
    """A language model that gives each answer as soon as it is there, so that none is lost if a later one fails."""

    @property
    def identity(self) -> str:
        """What else decides its answers: the server's address, the state of the model's files. Never a secret."""

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[tuple[int, Answer]]:
        """Answer prompts, in any order.

        :returns: the number of a prompt, from 0, and its answer.
        :raises LanguageModelError: if it fails for good, once what can be finished has been given.
        """


def in_order(backend: Backend, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
    """All answers of a backend, in the order of the prompts."""
    found = dict(backend.answers(prompts, sampling))
    return [found[number] for number in range(len(prompts))]
