"""Split the pairs into training, validation and test. Neither the paper nor its repository has a split.

Posts are sorted by the levels of their responses, and then by a hash of their id and a seed. Of every ten posts, one is
for test and one for validation. So each fold gets its share of the rare levels, of which a random tenth of all posts
could have almost none. The hash makes the split random, but independent of the files' order. All responses to a post
are in the same fold.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from parlai_empathy.tasks.epitome.reader import Pair

SEED = "epitome 1"
FOLDS = ("train", "valid", "test")
_TEN = ("test", "valid", *["train"] * 8)  # of ten consecutive posts


def split_pairs(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Return the pairs of each fold, in the given order."""
    pairs = list(pairs)
    levels: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for pair in pairs:
        levels[_hash(pair)].append(tuple(pair.levels.values()))
    ordered = sorted(levels, key=lambda post: (sorted(levels[post]), post))
    fold_of = {post: _TEN[place % len(_TEN)] for place, post in enumerate(ordered)}
    folds: dict[str, list[Pair]] = {fold: [] for fold in FOLDS}
    for pair in pairs:
        folds[fold_of[_hash(pair)]].append(pair)
    return folds


def _hash(pair: Pair) -> str:
    return hashlib.sha256(f"{SEED}\n{pair.seeker_id}".encode()).hexdigest()


def checksum(pairs: Iterable[Pair]) -> str:
    """Return the SHA-256 of a fold's set of posts, independent of their order and number of responses."""
    return hashlib.sha256("\n".join(sorted({_hash(pair) for pair in pairs})).encode()).hexdigest()
