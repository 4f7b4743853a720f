"""Which pairs are for training, validation and test. The paper's own split was never released.

Contexts are sorted by a hash of their text and a seed: the order is random, and the same for each copy of the data,
whatever its file's order. All pairs of a context go into one fold, so that no context is in two.
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
    """How the pairs are shared out; what is in neither test nor valid is for training.

    :param test: the test fold's share of the pairs, 0..1.
    :param valid: likewise; taken from what the paper trains on.
    :param rated_only: whether the shares are of the rated pairs, and test and valid hold contexts with ratings alone.
    """

    test: float
    valid: float
    rated_only: bool


SPLITS = {
    # The paper's 1,000 of 9,500 pairs for test (section 4.4); half as many of the other 8,500 for validation.
    "paper": Split(test=1000 / 9500, valid=500 / 9500, rated_only=False),
    # For copies that tell the rating of a few pairs only: half of these to measure with.
    "rated": Split(test=0.5, valid=0.1, rated_only=True),
}


def split_pairs(pairs: Iterable[Pair], name: str) -> dict[str, list[Pair]]:
    """The pairs of each fold, in the order given. :param name: of :data:`SPLITS`."""
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
    """The first contexts, as long as their pairs fit into ``wanted``."""
    taken, size = set(), 0
    for key in keys:
        if size + len(by_context[key]) <= wanted:
            taken.add(key)
            size += len(by_context[key])
    return taken


def _hash(pair: Pair) -> str:
    """Of the context's words: copies differ in their white space and in turns that say nothing."""
    text = "\n".join(" ".join(turn.split()) for turn in pair.context if turn.strip())
    return hashlib.sha256(f"{SEED}\n{text}".encode()).hexdigest()


def checksum(pairs: Iterable[Pair]) -> str:
    """A SHA-256 of which contexts a fold holds, whatever their order and number of pairs."""
    return hashlib.sha256("\n".join(sorted({_hash(pair) for pair in pairs})).encode()).hexdigest()
