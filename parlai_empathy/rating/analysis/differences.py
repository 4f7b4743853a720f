"""Whether two systems are rated differently, and by how much.

What is compared are the means of items: several ratings of one reply are no independent observations. Where at least
half of the items (of the system with fewer) are shared by both systems, these are compared item by item; else the two
systems' items are two samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.bootstrap import Floats, expanded_interval
from parlai_empathy.metrics.cluster_bootstrap import cluster_bootstrap, cluster_count, weighted_mean
from parlai_empathy.metrics.effect_size import cohens_d
from parlai_empathy.metrics.paired import paired_difference, swaps_for
from parlai_empathy.metrics.permutation import permutation_p_value
from parlai_empathy.metrics.rank_tests import rank_sum, signed_rank
from parlai_empathy.metrics.signature import signature
from parlai_empathy.rating.analysis.answers import Columns, columns_of
from parlai_empathy.rating.names import TESTS
from parlai_empathy.rating.rating import Rating

SHARED = 0.5
"""As large a share of items at least must be shared for a comparison item by item; fewer would waste the others."""


@dataclass(frozen=True)
class How:
    """How systems are compared.

    :param clusters: what is drawn for intervals: see :mod:`parlai_empathy.metrics.cluster_bootstrap`.
    :param tests: how many there will be, to be corrected for: a permutation test then takes enough swaps.
    """

    test: str = "ranks"
    clusters: str = "item"
    resamples: int = 1000
    seed: int = 0
    tests: int = 1

    @property
    def swaps(self) -> int:
        """Of a permutation test."""
        return swaps_for(self.tests, self.resamples)


class Difference(NamedTuple):
    """The first system less the second.

    :param n: how many items, such as ``50`` in pairs, or ``40 + 42``.
    :param value: the difference of the means of items, in points.
    :param interval: its 95 % bootstrap interval, expanded for few items; None if there is none.
    :param effect: the rank-biserial correlation, -1..1; None if there is none.
    :param d: Cohen's; None if there is none.
    :param p_value: of no difference, not yet corrected for others; None if there is no test.
    :param reasons: why something is None.
    """

    test: str
    n: str
    value: float
    interval: tuple[float, float] | None
    effect: float | None
    d: float | None
    p_value: float | None
    reasons: tuple[str, ...]
    signature: str


def difference(first: Sequence[Rating], second: Sequence[Rating], how: How) -> Difference:
    """Compare two systems' ratings of one question.

    :param first: at least one.
    :param second: at least one.
    :raises OptionError: for another test or other clusters.
    """
    if how.test not in TESTS:
        raise OptionError(f"test {how.test!r}: must be one of {', '.join(TESTS)}")
    both = columns_of([*first, *second])
    is_first = np.arange(len(both.values)) < len(first)
    shared = np.intersect1d(both.items[is_first], both.items[~is_first])
    sizes = [len(np.unique(both.items[side])) for side in (is_first, ~is_first)]
    paired = len(shared) >= 2 and len(shared) >= SHARED * min(sizes)
    if paired:
        chosen = np.isin(both.items, shared)
        both, is_first = both.some(chosen), is_first[chosen]
    base = _base(both, is_first)
    one, other = (_item_means(both, side) for side in (is_first, ~is_first))
    reasons: list[str] = []
    value = float(one.mean() - other.mean())
    interval = _interval(both, base, is_first, how, reasons)
    p_value, effect, p = _test(one, other, paired, how, reasons)
    name = _name(how.test, paired)
    n = f"{len(one)}" if paired else f"{len(one)} + {len(other)}"
    made = signature(
        name,
        unit="item means",
        pairing="by item" if paired else "none",
        zeros="left out" if name == "signed-rank" else None,
        p=p,
        swaps=how.swaps if how.test == "permutation" else None,
        effect="rank-biserial",
        d="pooled",
        interval="95%, expanded",
        drawn=how.clusters,
        resamples=how.resamples,
        seed=how.seed,
    )
    return Difference(name, n, value, interval, effect, _d(one, other, reasons), p_value, tuple(reasons), made)


def _name(test: str, paired: bool) -> str:
    if test == "permutation":
        return "permutation of pairs" if paired else "permutation"
    return "signed-rank" if paired else "Mann-Whitney"


def _base(both: Columns, is_first: np.typing.NDArray[np.bool_]) -> Floats:
    """What a rating counts if every item counts the same ``(n,)``: one divided by how many its system has there."""
    base = np.zeros(len(both.values))
    for side in (is_first, ~is_first):
        base[side] = 1 / np.bincount(both.items[side])[both.items[side]]
    return base


def _item_means(both: Columns, side: np.typing.NDArray[np.bool_]) -> Floats:
    """The mean of each item that one system has, in the order of their numbers."""
    items, values = both.items[side], both.values[side]
    counts = np.bincount(items)
    means: Floats = np.bincount(items, values)[counts > 0] / counts[counts > 0]
    return means


def _interval(
    both: Columns, base: Floats, is_first: np.typing.NDArray[np.bool_], how: How, reasons: list[str]
) -> tuple[float, float] | None:
    def apart(weights: Floats) -> float:
        counted = base * weights
        one, other = (weighted_mean(both.values[side], counted[side]) for side in (is_first, ~is_first))
        return one - other

    try:
        sides = (both.some(side) for side in (is_first, ~is_first))
        fewest = min(cluster_count(side.items, side.raters, how.clusters) for side in sides)
        drawn = cluster_bootstrap(apart, both.items, both.raters, how.clusters, how.resamples, how.seed)
        return expanded_interval(drawn, fewest)
    except NotComputableError as error:
        reasons.append(str(error))
        return None


def _test(
    one: Floats, other: Floats, paired: bool, how: How, reasons: list[str]
) -> tuple[float | None, float | None, str | None]:
    """P-value, rank-biserial correlation, and how a test of ranks knows the p-value."""
    try:
        found = signed_rank(one - other) if paired else rank_sum(one, other)
        if how.test == "ranks":
            return found.p_value, found.effect, found.p
        if paired:
            swapped = paired_difference(
                lambda means: float(np.mean(means)), one, other, how.swaps, how.seed, with_interval=False
            )
            return swapped.p_value, found.effect, None
        return permutation_p_value(one, other, how.swaps, how.seed), found.effect, None
    except NotComputableError as error:
        reasons.append(str(error))
        return None, None, None


def _d(one: Floats, other: Floats, reasons: list[str]) -> float | None:
    try:
        return cohens_d(one, other)
    except NotComputableError as error:
        reasons.append(str(error))
        return None
