"""Grouping texts of similar length into chunks."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.modules.speed import length_buckets as module
from parlai_empathy.modules.speed.length_buckets import CPU_TOKENS, GPU_TOKENS, length_buckets

LENGTHS = st.lists(st.integers(1, 3000), min_size=1, max_size=40)


@given(LENGTHS)
def test_chunks_cover_texts_by_length_within_token_limit(lengths: list[int]) -> None:
    chunks = [chunk.tolist() for chunk in length_buckets(torch.tensor(lengths))]
    places = [place for chunk in chunks for place in chunk]
    assert sorted(places) == list(range(len(lengths)))
    assert [lengths[place] for place in places] == sorted(lengths)
    for chunk in chunks:
        longest = max(lengths[place] for place in chunk)
        assert len(chunk) == 1 or len(chunk) * longest <= CPU_TOKENS, "a text that is too long is read alone"


@given(LENGTHS)
def test_chunks_are_as_large_as_the_token_limit_allows(lengths: list[int]) -> None:
    chunks = [chunk.tolist() for chunk in length_buckets(torch.tensor(lengths))]
    for chunk, following in pairwise(chunks):
        assert (len(chunk) + 1) * lengths[following[0]] > CPU_TOKENS


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 300)), min_size=1, max_size=80))
def test_pairs_are_sorted_and_limited_by_both_lengths(both: list[tuple[int, int]]) -> None:
    lengths, beside = (torch.tensor(kind) for kind in zip(*both, strict=True))
    chunks = [chunk.tolist() for chunk in length_buckets(lengths, beside)]
    rounded = [(math.ceil(length / 8) * 8, other) for length, other in both]
    places = [place for chunk in chunks for place in chunk]
    assert sorted(places) == list(range(len(both)))
    assert [rounded[place] for place in places] == sorted(rounded)
    for chunk in chunks:
        longest = max(sum(rounded[place]) for place in chunk)
        assert len(chunk) == 1 or len(chunk) * longest <= CPU_TOKENS


@given(LENGTHS, st.integers(1, 5))
def test_chunks_have_at_most_the_given_number_of_texts(lengths: list[int], most: int) -> None:
    chunks = length_buckets(torch.tensor(lengths), most=most)
    assert all(1 <= len(chunk) <= most for chunk in chunks) or len(lengths) == 1
    assert sorted(torch.cat(chunks).tolist()) == list(range(len(lengths)))


def test_texts_of_equal_length_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CPU_TOKENS", 12)
    assert [chunk.tolist() for chunk in length_buckets(torch.tensor([4, 2, 4, 4, 2, 4]))] == [[1, 4, 0], [2, 3, 5]]


on_cpu = torch.arange


class OnGpu(torch.Tensor):
    """Lengths that say that they are on a GPU."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device("cuda")


@given(LENGTHS)
def test_chunks_of_a_gpu_are_larger_and_have_any_number_of_texts(lengths: list[int]) -> None:
    with pytest.MonkeyPatch.context() as change:
        change.setattr(torch, "arange", lambda *sizes, device: on_cpu(*sizes))
        chunks = length_buckets(torch.tensor(lengths).as_subclass(OnGpu), most=1)
    places = [place for chunk in chunks for place in chunk.tolist()]
    if len(lengths) * max(lengths) <= GPU_TOKENS:
        assert places == list(range(len(lengths))), "a single chunk stays in its order"
    elif len(chunks) > 1:
        assert [lengths[place] for place in places] == sorted(lengths)
    for chunk in chunks:
        assert len(chunk) == 1 or len(chunk) * max(lengths[place] for place in chunk.tolist()) <= GPU_TOKENS
