"""The variance of ratings, and how much of it is due to the reply or the item, for power calculations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.rating import Place, Rating

_FEWEST = 3  # shared items for a covariance


class Spread(NamedTuple):
    """The spread of ratings; :mod:`parlai_empathy.statistics.likert_power` defines the terms.

    :param sd: the standard deviation of single ratings within a system, in points.
    :param same_reply: 0..1; None if no reply has two ratings.
    :param same_item: 0..``same_reply``; None if the systems do not share items.
    :param mean: of all ratings.
    """

    sd: float
    same_reply: float | None
    same_item: float | None
    mean: float


def spread(ratings: Sequence[Rating]) -> Spread:
    """Measure the spread of ratings of single replies, for one question.

    ``same_reply`` is the intraclass correlation from a one-way analysis of variance of each system's replies (Shrout
    and Fleiss 1979, case 1), for any number of ratings per reply. Ratings of a conversation's turns count as ratings of
    one reply, as in tests, which compare conversations.

    :raises NotComputableError: if no system has two ratings, or they do not vary.
    """
    systems: dict[str, dict[Place, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in ratings:
        if one.rating is not None:
            systems[one.system][one.place].append(one.rating)
    values = [[value for reply in replies.values() for value in reply] for replies in systems.values()]
    n = sum(map(len, values))
    if n <= len(values):
        raise NotComputableError(f"no standard deviation: {n} rating(s) of {len(values)} system(s) are too few")
    total = sum(_squares(system) for system in values)
    if total <= 1e-18 * n:
        raise NotComputableError("no standard deviation: all ratings of a system are the same")
    sd = float(np.sqrt(total / (n - len(values))))
    same_reply = _same_reply([list(replies.values()) for replies in systems.values()], total)
    means = [{item: float(np.mean(reply)) for item, reply in replies.items()} for replies in systems.values()]
    same_item = _same_item(means, sd, 1.0 if same_reply is None else same_reply)
    return Spread(sd, same_reply, same_item, float(np.mean([value for system in values for value in system])))


def _squares(values: Sequence[float]) -> float:
    array = np.asarray(values)
    return float(((array - array.mean()) ** 2).sum())


def _same_reply(systems: Sequence[Sequence[Sequence[float]]], total: float) -> float | None:
    replies = [reply for system in systems for reply in system]
    n, freedom = sum(map(len, replies)), len(replies) - len(systems)
    if n == len(replies) or freedom < 1:
        return None
    inside = sum(map(_squares, replies))
    between, within = (total - inside) / freedom, inside / (n - len(replies))
    # The effective number of ratings per reply, if replies have different numbers of them.
    size = (n - sum(sum(len(r) ** 2 for r in system) / sum(len(r) for r in system) for system in systems)) / freedom
    whole = between + (size - 1) * within
    return float(np.clip((between - within) / whole, 0.0, 1.0)) if whole > 0 else None


def _same_item(means: Sequence[dict[Place, float]], sd: float, most: float) -> float | None:
    """The covariance of two systems' item means, averaged over pairs of systems and divided by ``sd ** 2``."""
    found = []
    for one, other in combinations(means, 2):
        items = [item for item in one if item in other]
        if len(items) >= _FEWEST:
            found.append(float(np.cov([one[item] for item in items], [other[item] for item in items])[0, 1]))
    return float(np.clip(np.mean(found) / sd**2, 0.0, most)) if found else None
