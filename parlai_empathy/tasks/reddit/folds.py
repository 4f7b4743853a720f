"""Assign threads to folds, and to processes, by a hash of the thread's name alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

SEED = "reddit 1"
TEST = VALID = 5  # percent of the threads


def fold_of(thread: str) -> str:
    """Return ``train``, ``valid`` or ``test``. :param thread: the full name of its submission (``t3_22569``)."""
    return _fold(_hash(thread))


def thread_filter(fold: str, share: int = 0, shares: int = 1) -> Callable[[str], bool]:
    """Return a test of whether a thread is in the fold, and in the given one (from 0) of ``shares`` equal shares."""

    def is_wanted(thread: str) -> bool:
        number = _hash(thread)
        return _fold(number) == fold and number // 100 % shares == share

    return is_wanted


def _fold(number: int) -> str:
    place = number % 100
    return "test" if place < TEST else "valid" if place < TEST + VALID else "train"


def _hash(thread: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{SEED}\n{thread}".encode()).digest()[:8], "big")
