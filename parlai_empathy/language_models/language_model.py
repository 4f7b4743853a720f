"""The interface of all language models, whichever backend runs them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from parlai_empathy.language_models.completion import Answer
from parlai_empathy.language_models.partial_answers import Say
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.usage import Usage


class LanguageModel(ABC):
    """A model that continues texts and answers chats."""

    name: str
    """The backend and the model, such as ``openai:gpt-4o``; used in the signatures of metrics."""
    context_length: int | None
    """The maximum number of tokens of a prompt and its answer together; None if unknown."""
    usage: Usage
    """The requests and tokens so far."""

    @abstractmethod
    def count_tokens(self, prompt: Prompt) -> int:
        """Return the number of tokens of a prompt; a high estimate if the model's tokenizer is not available."""

    def as_words(self, text: str) -> str:
        """Return what somebody said as a prompt may contain it: a model reads all of it as words.

        Servers, which know their control tokens, get it unchanged.
        """
        return text

    @abstractmethod
    def complete(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
        """Answer prompts.

        :returns: one answer per prompt, in the same order.
        :raises LanguageModelError: if the model or its server fails permanently. Answers finished by then are cached.
        """

    @abstractmethod
    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt, passing partial answers to ``say`` while it is generated.

        :param say: called with longer and longer prefixes of the answer's text, never with text beyond a stop text.
            It may not be called with the complete text.
        :returns: the same answer as :meth:`complete`. It may be :class:`NoAnswer` even after ``say`` was called: a
            server's content filter may withdraw what was already sent.
        :raises LanguageModelError: if the model or its server fails permanently, perhaps in the middle of an answer.
        """


class Backend(LanguageModel):
    """A language model that yields each answer as soon as it is finished, so none is lost if a later one fails."""

    identity: str
    """What its answers depend on besides the name: the server's address or the model's files. Never a secret."""

    @abstractmethod
    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[tuple[int, Answer]]:
        """Answer prompts, in any order.

        :returns: pairs of a prompt's number, from 0, and its answer.
        :raises LanguageModelError: if it fails permanently, after all answers that could be finished.
        """

    def complete(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
        """Return the answers in the order of the prompts."""
        found = dict(self.answers(prompts, sampling))
        return [found[number] for number in range(len(prompts))]
