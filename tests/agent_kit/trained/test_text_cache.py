"""Caching what is computed from texts, compared with computing it each time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agent_kit.trained.text_cache import TextCache


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=6), st.integers(0, 7))
def test_values_are_correct_at_any_cache_size(calls: list[list[str]], most: int) -> None:
    remembered: TextCache[str] = TextCache(most)
    for texts in calls:
        assert remembered.of(texts, lambda places, texts=texts: [texts[i] * 2 for i in places]) == [
            t * 2 for t in texts
        ]


def asked(remembered: TextCache[str], texts: str) -> str:
    """Return the texts that had to be computed for a call."""
    computed: list[str] = []

    def compute(places: list[int]) -> list[str]:
        computed.extend(texts[place] for place in places)
        return [texts[place] for place in places]

    remembered.of(texts, compute)
    return "".join(computed)


def test_each_text_is_computed_once() -> None:
    remembered: TextCache[str] = TextCache(10)
    assert sorted(asked(remembered, "abca")) == ["a", "b", "c"]
    assert asked(remembered, "cbd") == "d"


def test_full_cache_keeps_its_entries() -> None:
    """Of four texts repeated in each epoch, two are found again; with eviction of the oldest, none would be."""
    remembered: TextCache[str] = TextCache(2)
    assert asked(remembered, "abcd") == "abcd"
    assert asked(remembered, "abcd") == "cd"


def test_empty_input_computes_nothing() -> None:
    assert TextCache[str](1).of([], lambda _: 1 / 0) == []  # type: ignore[arg-type, return-value]
