"""The assignment of posts to folds."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from pathlib import Path

from parlai_empathy.tasks.newsgroups.reader import read_newsgroups
from parlai_empathy.tasks.newsgroups.splits import fold_of


def test_fold_is_computed_from_hash_of_text() -> None:
    """The first 8 bytes of the SHA-256, modulo 100: below 10 test, below 20 valid."""
    for text in ("How?", "Caf\xe9 on the moon", *map(str, range(500))):
        number = int(hashlib.sha256(f"newsgroups 1\n{text}".encode()).hexdigest()[:16], 16) % 100
        assert fold_of(text) == ("test" if number < 10 else "valid" if number < 20 else "train")


def test_valid_and_test_folds_hold_ten_percent_each() -> None:
    counts = Counter(fold_of(str(n)) for n in range(20_000))
    # 10 % of 20,000 is 2,000, with a standard deviation of 42
    assert abs(counts["test"] - 2_000) < 200
    assert abs(counts["valid"] - 2_000) < 200


def test_no_post_of_the_real_data_is_in_two_folds(real_data: Path) -> None:
    """Neither a cross-post (same Message-ID) nor a repeated post (same text)."""
    folds = defaultdict(set)
    for post in read_newsgroups(real_data / "20newsgroups" / "20_newsgroups_19997.tar.gz"):
        if post.text:
            folds[post.headers["message-id"]].add(fold_of(post.text))
            folds[post.text].add(fold_of(post.text))
    assert {len(found) for found in folds.values()} == {1}
