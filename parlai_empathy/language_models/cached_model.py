"""A language model with a cache: only prompts without a cached answer are sent to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parlai_empathy.language_models.cache import Cache, cache_key
from parlai_empathy.language_models.completion import Answer, Completion
from parlai_empathy.language_models.language_model import Backend, LanguageModel
from parlai_empathy.language_models.partial_answers import Say
from parlai_empathy.language_models.prompt import Prompt, Sampling


class CachedModel(LanguageModel):
    """A backend with a cache. Completions are cached as soon as they arrive; :class:`NoAnswer` is never cached.

    The same prompt with the same sampling options therefore always gets the same answer, even if sampling is random.
    Another ``seed`` gets another answer.
    """

    def __init__(self, backend: Backend, cache: Cache) -> None:
        self.backend = backend
        self.cache = cache
        self.name = backend.name
        self.context_length = backend.context_length
        self.usage = backend.usage  # answers from the cache are added to it

    def count_tokens(self, prompt: Prompt) -> int:
        """Return the number of tokens, as counted by the backend."""
        return self.backend.count_tokens(prompt)

    def as_words(self, text: str) -> str:
        """Return what somebody said as the backend reads it."""
        return self.backend.as_words(text)

    def complete(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
        """Return the answers in the order of the prompts; repeated prompts are sent once."""
        keys = [cache_key(self.name, self.backend.identity, prompt, sampling) for prompt in prompts]
        found: dict[str, Answer] = {key: old for key in keys if (old := self.cache.find(key))}
        missing = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in found}
        new = list(missing)
        for number, answer in self.backend.answers(list(missing.values()), sampling):
            if isinstance(answer, Completion):
                self.cache.keep(new[number], answer)
            found[new[number]] = answer
        return [self._given(found, key, missing) for key in keys]

    def stream(self, prompt: Prompt, sampling: Sampling, say: Say) -> Answer:
        """Answer one prompt: a cached answer is passed to ``say`` at once, a new one while the backend writes it."""
        key = cache_key(self.name, self.backend.identity, prompt, sampling)
        if kept := self.cache.find(key):
            self.usage.add(kept)
            say(kept.text)
            return kept
        answer = self.backend.stream(prompt, sampling, say)
        if isinstance(answer, Completion):
            self.cache.keep(key, answer)
        return answer

    def _given(self, found: dict[str, Answer], key: str, first: dict[str, Prompt]) -> Answer:
        """Return the answer for a key; a new answer counts as cached from its second use on."""
        answer = found[key]
        if first.pop(key, None) is not None or not isinstance(answer, Completion):
            return answer
        cached = replace(answer, cached=True)
        self.usage.add(cached)
        return cached
