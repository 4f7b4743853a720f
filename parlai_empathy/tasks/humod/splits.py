"""Split the pairs into training, validation and test. The paper's own split was never released.

Contexts are sorted by a hash of their text and a seed: the order is random, but the same for each copy of the data,
independent of its file's order. All pairs of a context are in the same fold.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parlai_empathy.tasks.humod.records import Pair

SEED = "humod 1"
FOLDS = ("train", "valid", "test")


@dataclass(frozen=True)
class Split:
    """The sizes of the folds. Pairs that are in neither test nor valid are for training.

    :param test: the test fold's share of the pairs, 0..1.
    :param valid: the validation fold's share of the pairs, 0..1; the paper trains on these.
    :param rated_only: whether test and valid have only contexts whose pairs are all rated; the shares are then of the
        pairs of these contexts.
    """

    test: float
    valid: float
    rated_only: bool


SPLITS = {
    # The paper's 1,000 of 9,500 pairs for test (section 4.4); half as many of the other 8,500 for validation.
    "paper": Split(test=1000 / 9500, valid=500 / 9500, rated_only=False),
    # For copies with ratings of only a few pairs: half of these for test.
    "rated": Split(test=0.5, valid=0.1, rated_only=True),
}


def split_pairs(pairs: Iterable[Pair], name: str) -> dict[str, list[Pair]]:
    """Return the pairs of each fold, in the given order. :param name: a key of :data:`SPLITS`."""
    pairs, split = list(pairs), SPLITS[name]
    by_context: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_context[_hash(pair)].append(pair)
    eligible = [key for key in sorted(by_context) if not split.rated_only or _is_rated(by_context[key])]
    total = sum(len(by_context[key]) for key in eligible)
    test = _take(eligible, by_context, round(split.test * total))
    valid = _take([key for key in eligible if key not in test], by_context, round(split.valid * total))
    fold_of = dict.fromkeys(test, "test") | dict.fromkeys(valid, "valid")
    folds: dict[str, list[Pair]] = {fold: [] for fold in FOLDS}
    for pair in pairs:
        folds[fold_of.get(_hash(pair), "train")].append(pair)
    return folds


def _is_rated(pairs: list[Pair]) -> bool:
    return all(pair.mean_rating is not None for pair in pairs)


def _take(keys: Sequence[str], by_context: dict[str, list[Pair]], wanted: int) -> set[str]:
    """Return contexts, in order, with at most ``wanted`` pairs; those with too many pairs are skipped."""
    taken, size = set(), 0
    for key in keys:
        if size + len(by_context[key]) <= wanted:
            taken.add(key)
            size += len(by_context[key])
    return taken


def _hash(pair: Pair) -> str:
    """Return a hash of the context's words: copies differ in white space and in empty turns."""
    text = "\n".join(" ".join(turn.split()) for turn in pair.context if turn.strip())
    return hashlib.sha256(f"{SEED}\n{text}".encode()).hexdigest()


def checksum(pairs: Iterable[Pair]) -> str:
    """Return the SHA-256 of a fold's set of contexts, independent of their order and number of pairs."""
    return hashlib.sha256("\n".join(sorted({_hash(pair) for pair in pairs})).encode()).hexdigest()
