"""The candidates that tasks sample if their data set has none."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.task_kit.candidates import NUM_CANDIDATES, sample_candidates

REPLIES = [f"reply {n}" for n in range(300)]


@given(st.lists(st.text(max_size=3), unique=True, max_size=150), st.text(max_size=3), st.text(max_size=5))
def test_candidates_are_unique_replies_including_the_true_one(replies: list[str], reply: str, seed: str) -> None:
    candidates = sample_candidates(reply, replies, seed)
    assert candidates.count(reply) == 1
    assert len(set(candidates)) == len(candidates) == min(NUM_CANDIDATES, len({*replies, reply}))
    assert set(candidates) <= {*replies, reply}


def test_true_reply_inside_or_outside_the_fold_has_99_distractors() -> None:
    assert len(sample_candidates(REPLIES[7], REPLIES, "a")) == len(sample_candidates("another", REPLIES, "a")) == 100


def test_candidates_depend_only_on_the_seed() -> None:
    random.seed(1)
    first = sample_candidates(REPLIES[7], REPLIES, "a")
    random.seed(2)
    assert sample_candidates(REPLIES[7], REPLIES, "a") == first
    assert set(sample_candidates(REPLIES[7], REPLIES, "b")) != set(first)


def test_true_reply_can_be_at_any_position() -> None:
    places = {sample_candidates(REPLIES[7], REPLIES, str(seed)).index(REPLIES[7]) for seed in range(2_000)}
    assert places == set(range(100))  # 2,000 draws miss a given one with probability .99 ** 2000, 2e-9
