"""EPITOME scores of replies: how much empathy they show, and how much this differs from people's replies.

A classifier predicts a level, 0, 1 or 2, of each mechanism of empathy (Sharma et al. 2020) for each reply: emotional
reactions (ER), interpretations (IP) and explorations (EX). Lee et al. (2022) compare systems by two numbers per
mechanism:

- the mean level of the replies;
- diff-EPITOME, the mean over items of ``(level of the system's reply - level of the person's reply) ** 2``: the lower,
  the closer to people's replies.

Both use the most probable level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parlai_empathy.errors import NotComputableError


def levels_of(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return each reply's most probable level.

    :param probabilities: ``(n, levels)``, of level 0, 1, 2; each row sums to 1.
    :returns: ``(n,)``, 0..2
    :raises NotComputableError: if there is no reply, or if these are not probabilities.
    """
    return np.asarray(_table(probabilities).argmax(axis=1), dtype=np.float64)


def squared_differences(levels: ArrayLike, gold: ArrayLike) -> NDArray[np.float64]:
    """Return ``(level - gold) ** 2`` for each item; diff-EPITOME is their mean (Lee et al. 2022, section 4).

    :param levels: ``(n,)``, of a system's replies.
    :param gold: ``(n,)``, of people's replies, predicted by the same classifier.
    :returns: ``(n,)``, 0..4
    :raises NotComputableError: if there is no item, if the numbers of items differ, or if a level is not a finite
        number.
    """
    ours, theirs = _vector(levels, "reply"), _vector(gold, "person's reply")
    if len(ours) != len(theirs):
        raise NotComputableError(f"diff-EPITOME: {len(ours)} replies, but {len(theirs)} from people: give one for each")
    differences: NDArray[np.float64] = (ours - theirs) ** 2
    return differences


def _table(probabilities: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(probabilities, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise NotComputableError(
            f"EPITOME: probabilities of shape {table.shape}: expected one row per reply, and at least one"
        )
    if not np.allclose(table.sum(axis=1), 1, atol=1e-3) or (table < 0).any():  # false for NaN too
        row = int(np.flatnonzero(~np.isclose(table.sum(axis=1), 1, atol=1e-3) | (table < 0).any(axis=1))[0])
        raise NotComputableError(f"EPITOME: reply {row}, counted from 0: {table[row].tolist()} are not probabilities")
    return table


def _vector(levels: ArrayLike, name: str) -> NDArray[np.float64]:
    vector = np.asarray(levels, dtype=np.float64)
    if vector.ndim != 1 or not len(vector):
        raise NotComputableError(f"EPITOME: levels of shape {vector.shape}: expected one for each {name}")
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise NotComputableError(
            f"EPITOME: {name} {place}, counted from 0, has no level: leave it out and count it as missing"
        )
    return vector
