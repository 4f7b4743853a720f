"""The negatives of a reranker's training."""

from __future__ import annotations

import random

import torch
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agents.rerank.training_candidates import block_of, hard_candidates

REPLIES = [f"reply {number}" for number in range(300)]


@given(st.lists(st.sampled_from(REPLIES[:150]), min_size=1, max_size=130), st.integers(0, 9))
def test_block_has_at_least_100_distinct_replies_including_the_batch(batch: list[str], seed: int) -> None:
    block = block_of(batch, REPLIES, random.Random(seed))
    assert len(block) == len(set(block)) == max(100, len(set(batch)))
    assert set(batch) <= set(block) <= set(REPLIES)
    assert block == block_of(batch, REPLIES, random.Random(seed))


def test_block_of_a_large_batch_is_the_batch_itself() -> None:
    assert block_of(REPLIES[:120], REPLIES, random.Random(0)) == REPLIES[:120]


def test_block_of_few_replies_contains_all_of_them() -> None:
    assert sorted(block_of(["b", "new"], ["a", "b", "c"], random.Random(0))) == ["a", "b", "c", "new"]


def test_hard_candidates_are_the_best_scoring_wrong_replies() -> None:
    scores = torch.tensor([[1.0, 5.0, 3.0, 4.0, 2.0], [9.0, 1.0, 2.0, 3.0, 8.0]])
    is_true = torch.tensor([[True, False, False, True, False], [False, True, False, False, False]])
    assert hard_candidates(scores, is_true, torch.tensor([3, 1]), 2).tolist() == [[3, 1, 2], [1, 0, 4]]


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_hard_candidates_match_brute_force_search(seed: int, count: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    scores = torch.rand(4, 12, generator=draw)
    true = torch.randint(12, (4,), generator=draw)
    is_true = torch.rand(4, 12, generator=draw) < 0.2
    is_true[torch.arange(4), true] = True
    is_true[:, :5] &= torch.zeros(4, 5, dtype=torch.bool) | (torch.arange(5) == true[:, None])
    for row, (mine, truth, place) in enumerate(zip(scores.tolist(), is_true.tolist(), true.tolist(), strict=True)):
        others = sorted((i for i in range(12) if not truth[i]), key=lambda i: -mine[i])
        if len(others) >= count:
            assert hard_candidates(scores, is_true, true, count)[row].tolist() == [place, *others[:count]]
