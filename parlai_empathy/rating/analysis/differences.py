"""Whether two systems are rated differently, and by how much.

Item means are compared, since several ratings of one reply, or of the turns of one conversation, are not independent
observations. If the systems share at least half of the items (of the system with fewer), the shared items are compared
in pairs; otherwise the two systems' items are two independent samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.analysis.answers import Columns, columns_of
from parlai_empathy.rating.names import TESTS
from parlai_empathy.rating.rating import Rating
from parlai_empathy.signature import signature
from parlai_empathy.statistics.bootstrap import Floats, interval_of
from parlai_empathy.statistics.cluster_bootstrap import cluster_bootstrap, cluster_count, weighted_mean
from parlai_empathy.statistics.effect_size import cohens_d
from parlai_empathy.statistics.paired import paired_difference, swaps_for
from parlai_empathy.statistics.permutation import permutation_p_value
from parlai_empathy.statistics.rank_tests import rank_sum, signed_rank

SHARED = 0.5
"""The minimum share of common items for a paired comparison; with fewer, it would waste too many of the others."""


@dataclass(frozen=True)
class How:
    """How systems are compared.

    :param test: one of :data:`~parlai_empathy.rating.names.TESTS`.
    :param clusters: what is resampled for intervals: see :mod:`parlai_empathy.statistics.cluster_bootstrap`.
    :param tests: the number of tests to correct for, for which a permutation test makes enough swaps.
    """

    test: str = "ranks"
    clusters: str = "item"
    resamples: int = 1000
    seed: int = 0
    tests: int = 1

    @property
    def swaps(self) -> int:
        """The number of swaps of a permutation test."""
        return swaps_for(self.tests, self.resamples)


class Difference(NamedTuple):
    """The difference between two systems: the first minus the second.

    :param n: the number of items, such as ``50`` in pairs, or ``40 + 42``.
    :param value: the difference of the means over items, in points.
    :param interval: its 95 % bootstrap interval, expanded for few items; None if not computable.
    :param effect: the rank-biserial correlation, -1..1; None if not computable.
    :param d: Cohen's d; None if not computable.
    :param p_value: not yet corrected for multiple tests; None if not computable.
    :param reasons: why values are None.
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
    """Compare two systems' ratings for one question.

    :param first: at least one rating.
    :param second: at least one rating.
    :raises OptionError: for an unknown test or unknown clusters.
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
    """The weights of ratings ``(n,)`` that make all items count equally: 1 / the system's ratings of the item."""
    base = np.zeros(len(both.values))
    for side in (is_first, ~is_first):
        base[side] = 1 / np.bincount(both.items[side])[both.items[side]]
    return base


def _item_means(both: Columns, side: np.typing.NDArray[np.bool_]) -> Floats:
    """The mean rating of each item of one system, in the order of the items' indices."""
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
        return interval_of(drawn, fewest, of_means=True)
    except NotComputableError as error:
        reasons.append(str(error))
        return None


def _test(
    one: Floats, other: Floats, paired: bool, how: How, reasons: list[str]
) -> tuple[float | None, float | None, str | None]:
    """P-value, rank-biserial correlation, and how a rank test computed the p-value (for the signature)."""
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
