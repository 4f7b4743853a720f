"""A language model that is only asked what has not been answered yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parlai_empathy.language_models.cache import Cache, cache_key
from parlai_empathy.language_models.completion import Answer, Completion
from parlai_empathy.language_models.language_model import Backend
from parlai_empathy.language_models.prompt import Prompt, Sampling
from parlai_empathy.language_models.telling import Say
from parlai_empathy.language_models.usage import Usage


class CachedModel:
    """A backend with a cache. Each completion is kept as soon as it is there; what is no answer is asked again.

    The same prompt under the same sampling always has the same answer then, also where chance would have given another;
    another ``seed`` gets another.
    """

    def __init__(self, backend: Backend, cache: Cache) -> None:
        self.backend = backend
        self.cache = cache

    @property
    def name(self) -> str:
        """The backend and the model."""
        return self.backend.name

    @property
    def context_length(self) -> int | None:
        """The backend's."""
        return self.backend.context_length

    @property
    def usage(self) -> Usage:
        """The backend's, with what came from the cache."""
        return self.backend.usage

    def count_tokens(self, prompt: Prompt) -> int:
        """As the backend counts them."""
        return self.backend.count_tokens(prompt)

    def complete(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Answer]:
        """Answer prompts, in their order; the same prompt twice is asked once."""
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
        """Answer one prompt: what was kept is said at once, what is new while the backend writes it."""
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
        """The answer; what the backend gave counts as new the first time only."""
        answer = found[key]
        if first.pop(key, None) is not None or not isinstance(answer, Completion):
            return answer
        cached = replace(answer, cached=True)
        self.usage.add(cached)
        return cached
