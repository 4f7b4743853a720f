"""The assignment of threads to folds and processes."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from parlai_empathy.tasks.reddit.folds import fold_of, thread_filter

THREADS = [f"t3_{n:x}" for n in range(20_000)]


def test_fold_is_computed_from_hash_of_thread_name() -> None:
    """The first 8 bytes of the SHA-256, modulo 100: below 5 test, below 10 valid."""
    for thread in ("t3_22569", *THREADS[:500]):
        number = int(hashlib.sha256(b"reddit 1\n" + thread.encode()).hexdigest()[:16], 16) % 100
        assert fold_of(thread) == ("test" if number < 5 else "valid" if number < 10 else "train")
    assert (fold_of("t3_22569"), fold_of("t3_5yarj")) == ("train", "train")  # recorded here, so that it never changes


def test_valid_and_test_folds_hold_five_percent_each() -> None:
    counts = Counter(map(fold_of, THREADS))
    # 5 % of 20,000 is 1,000, with a standard deviation of 31
    assert abs(counts["test"] - 1_000) < 150
    assert abs(counts["valid"] - 1_000) < 150


@pytest.mark.parametrize("shares", [1, 2, 3, 7])
def test_each_thread_of_a_fold_is_read_by_exactly_one_process(shares: int) -> None:
    filters = [thread_filter("train", share, shares) for share in range(shares)]
    readers = [sum(is_wanted(thread) for is_wanted in filters) for thread in THREADS]
    assert readers == [int(fold_of(thread) == "train") for thread in THREADS]
    sizes = [sum(map(is_wanted, THREADS)) for is_wanted in filters]
    assert max(sizes) - min(sizes) < 600
