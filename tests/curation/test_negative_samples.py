"""Negative samples: how each of the four methods changes a post."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.curation.negative_samples import GENERIC, KINDS, negative_sample
from parlai_empathy.tasks.reddit.cleaning import clean

POST, PARENT = "one two three four five six seven", "what it answers"
WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12)


def sample(kind: str, post: str = POST, words: tuple[str, ...] = ("NEW",), seed: int = 0) -> str:
    return negative_sample(kind, post, PARENT, words, random.Random(seed))


def is_part(part: list[str], whole: list[str]) -> bool:
    """Whether one list of words is a subsequence of another."""
    rest = iter(whole)
    return all(word in rest for word in part)


@settings(deadline=None)
@given(WORDS, st.integers(0, 99))
def test_insertion_adds_half_as_many_words(words: list[str], seed: int) -> None:
    found = sample("insertion", " ".join(words), seed=seed).split()
    assert [word for word in found if word != "NEW"] == words
    assert found.count("NEW") == max(1, round(len(words) / 2))


@settings(deadline=None)
@given(WORDS, st.integers(0, 99))
def test_deletion_removes_half_the_words_but_leaves_one(words: list[str], seed: int) -> None:
    found = sample("deletion", " ".join(words), seed=seed).split()
    assert len(found) == max(1, len(words) - max(1, round(len(words) / 2)))
    assert is_part(found, words)


def test_copy_returns_the_parent() -> None:
    assert sample("copy") == PARENT


def test_generic_draws_from_all_generic_replies() -> None:
    found = Counter(sample("generic", seed=seed) for seed in range(2_000))
    assert found.keys() == set(GENERIC)


def test_generic_replies_are_clean_and_unique() -> None:
    assert [reply for reply in GENERIC if clean(reply) != reply] == []
    assert len(set(GENERIC)) == len(GENERIC)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_determined_by_the_seed(kind: str) -> None:
    words = ("NEW", "OTHER", "THIRD")
    assert sample(kind, words=words, seed=3) == sample(kind, words=words, seed=3)
    different = {sample(kind, words=words, seed=seed) for seed in range(40)}
    assert len(different) == 1 if kind == "copy" else len(different) > 5
