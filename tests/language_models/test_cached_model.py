"""A language model that is only asked for answers that are not in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from parlai_empathy.errors import LanguageModelError
from parlai_empathy.language_models.cache import Cache
from parlai_empathy.language_models.cached_model import CachedModel
from parlai_empathy.language_models.completion import Answer, Completion, NoAnswer
from parlai_empathy.language_models.echo import EchoModel
from parlai_empathy.language_models.prompt import Prompt, Sampling


class Counting(EchoModel):
    """An echo model that answers in reverse order and records its prompts; ``break`` raises an error."""

    def __init__(self) -> None:
        super().__init__("counting", context_length=99)
        self.asked: list[Prompt] = []

    def answers(self, prompts: Sequence[Prompt], sampling: Sampling) -> Iterator[tuple[int, Answer]]:
        for number in reversed(range(len(prompts))):
            if prompts[number] == "break":
                raise LanguageModelError("broken")
            self.asked.append(prompts[number])
            yield number, next(iter(super().answers([prompts[number]], sampling)))[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def texts(answers: Sequence[Answer]) -> list[str | None]:
    return [answer.text if isinstance(answer, Completion) else None for answer in answers]


def test_only_uncached_prompts_are_requested(path: Path) -> None:
    first, second = Counting(), Counting()
    assert texts(CachedModel(first, Cache(path)).complete(["a", "b"], Sampling())) == ["a", "b"]
    model = CachedModel(second, Cache(path))
    found = model.complete(["b", "c", "a"], Sampling())
    assert texts(found) == ["b", "c", "a"]
    assert [one.cached for one in found if isinstance(one, Completion)] == [True, False, True]
    assert second.asked == ["c"]
    assert (model.usage.requests, model.usage.cached, model.usage.prompt_tokens) == (1, 2, 1)


def test_answer_that_reached_the_token_limit_is_cached(path: Path) -> None:
    model = CachedModel(Counting(), Cache(path))
    found = [model.complete(["a b"], Sampling(max_tokens=1))[0] for _ in range(2)]
    assert found == [Completion("a", "length", 2, 1), Completion("a", "length", 2, 1, cached=True)]


def test_different_sampling_is_requested_again(path: Path) -> None:
    model = CachedModel(Counting(), Cache(path))
    for sampling in (Sampling(seed=1), Sampling(seed=2), Sampling(seed=1)):
        model.complete(["a"], sampling)
    assert (model.usage.requests, model.usage.cached) == (2, 1)


def test_duplicate_prompts_are_requested_once(path: Path) -> None:
    backend = Counting()
    found = CachedModel(backend, Cache(path)).complete(["a", "b", "a"], Sampling())
    assert sorted(map(str, backend.asked)) == ["a", "b"]
    assert [one.cached for one in found if isinstance(one, Completion)] == [False, False, True]
    assert (backend.usage.requests, backend.usage.cached) == (2, 1)


def test_prompts_without_an_answer_are_requested_again(path: Path) -> None:
    backend = Counting()
    model = CachedModel(backend, Cache(path))
    for _ in range(2):
        assert model.complete(["", "a"], Sampling())[0] == NoAnswer("an empty text")
    assert backend.asked == ["a", "", ""]
    assert model.usage.no_answers == 2


def test_answers_before_a_failure_are_cached(path: Path) -> None:
    model = CachedModel(Counting(), Cache(path))
    with pytest.raises(LanguageModelError, match="broken"):
        model.complete(["a", "break", "b", "c"], Sampling())
    again = Counting()
    CachedModel(again, Cache(path)).complete(["a", "b", "c"], Sampling())
    assert again.asked == ["a"]


def test_streamed_answer_is_cached_and_replayed_at_once(path: Path) -> None:
    reported: list[str] = []
    backend = Counting()
    model = CachedModel(backend, Cache(path))
    first = model.stream("one two", Sampling(seed=1), reported.append)
    assert reported == ["one", "one two"]
    second = model.stream("one two", Sampling(seed=1), reported.append)
    assert reported[2:] == ["one two"]
    assert (first, second) == (Completion("one two", "stop", 2, 2), Completion("one two", "stop", 2, 2, cached=True))
    assert model.complete(["one two"], Sampling(seed=1)) == [second]  # streamed or not
    assert backend.asked == ["one two"]
    assert (model.usage.requests, model.usage.cached) == (1, 2)
    assert model.stream("one two", Sampling(seed=2), reported.append) == first


def test_completed_answer_is_served_to_stream(path: Path) -> None:
    reported: list[str] = []
    model = CachedModel(Counting(), Cache(path))
    model.complete(["one two"], Sampling())
    assert model.stream("one two", Sampling(), reported.append) == Completion("one two", "stop", 2, 2, cached=True)
    assert reported == ["one two"]


def test_partial_and_missing_answers_are_not_cached(path: Path) -> None:
    class Breaking(Counting):
        def stream(self, prompt: Prompt, sampling: Sampling, say: Callable[[str], None]) -> Answer:
            say("half")
            if prompt == "break":
                raise LanguageModelError("broken")
            return NoAnswer("filtered")

    model = CachedModel(Breaking(), Cache(path))
    with pytest.raises(LanguageModelError, match="broken"):
        model.stream("break", Sampling(), lambda text: None)
    assert model.stream("a", Sampling(), lambda text: None) == NoAnswer("filtered")
    assert len(model.cache) == 0


def test_models_with_different_identities_do_not_share_answers(path: Path) -> None:
    first, second = Counting(), Counting()
    second.identity = "trained further"
    CachedModel(first, Cache(path)).complete(["a"], Sampling())
    CachedModel(second, Cache(path)).complete(["a"], Sampling())
    assert second.asked == ["a"]


def test_cached_model_exposes_backend_attributes(path: Path) -> None:
    backend = Counting()
    model = CachedModel(backend, Cache(path))
    assert (model.name, model.context_length, model.count_tokens("a b")) == ("echo:counting", 99, 2)
    assert model.usage is backend.usage
    assert model.complete([], Sampling()) == []
