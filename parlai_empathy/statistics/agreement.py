"""Agreement between raters: weighted kappa, Fleiss' kappa and Krippendorff's alpha, with bootstrap intervals.

All three are computed from pairs of ratings of the same item: ``1 - sum(d * observed) / sum(d * expected)``. Here
``observed`` counts how often value a was paired with value b, ``expected`` how often that would happen by chance, and
``d`` is the distance between a and b. They differ in the following:

Weighted kappa (Cohen 1968)
    Rater 1's rating is paired with rater 2's; ``d`` is the number of steps between them on the scale, or its square;
    chance keeps each rater's own frequencies. HUMOD has three ratings per item, by raters that differ from item to
    item, and selects two of them in four ways (Merdivan et al. 2020, Table 2): see :func:`two_ratings`.
Fleiss' kappa (Fleiss 1971)
    Each rating is paired with each other rating of its item, and all items have the same number of ratings; ``d`` is 0
    or 1; chance draws pairs from all ratings with replacement.
Krippendorff's alpha (Krippendorff 2011)
    The same pairs, for any number of ratings per item; ``d`` depends on the level of measurement; chance draws pairs
    without replacement, so that no rating is paired with itself.

Ratings are given as one sequence per item; their order in it is ignored, and None stands for a missing rating.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.signature import signature
from parlai_empathy.statistics.bootstrap import Floats, Places, bootstrap, interval_of

Ratings = Sequence[Sequence[float | None]]
Rows = list[list[int]]  # ratings as indices on the scale, without missing ones

PAIRINGS = ("closest", "lowest", "highest", "random")
WEIGHTS = ("linear", "quadratic")
LEVELS = ("nominal", "ordinal", "interval", "ratio")


class Agreement(NamedTuple):
    """A measure of agreement with its confidence interval.

    :param value: 1 for perfect agreement, 0 for chance level, below 0 for less; None if not computable.
    :param low: the lower end of the 95 % bootstrap interval; None if not computable, as for a single item, if
        all resamples give the same value, as for perfect agreement, or if most of them are of equal ratings.
    :param high: its upper end; None if not computable.
    :param signature: how these numbers were computed.
    :param reason: why they are not computable; None if they are.
    """

    value: float | None
    low: float | None
    high: float | None
    signature: str
    reason: str | None = None

    @property
    def span(self) -> tuple[float, float, float] | None:
        """The value and both ends, for a plot: without an interval they are the value itself; None without a value."""
        if self.value is None:
            return None
        ends = (self.value, self.value) if self.low is None or self.high is None else (self.low, self.high)
        return (self.value, *ends)


class AgreementReport(NamedTuple):
    """The result of :func:`agreement`.

    :param items: the number of items with at least two ratings; the others carry no information on agreement.
    :param ratings: the number of those items' ratings.
    :param left_out: the number of items with fewer than two ratings.
    :param kappas: weighted kappa by pairing and weights: ``kappas["closest", "quadratic"]``.
    :param fleiss: Fleiss' kappa.
    :param alphas: Krippendorff's alpha by level: ``alphas["ordinal"]`` and ``alphas["interval"]``.
    """

    items: int
    ratings: int
    left_out: int
    kappas: dict[tuple[str, str], Agreement]
    fleiss: Agreement
    alphas: dict[str, Agreement]


def two_ratings(ratings: Ratings, pairing: str, seed: int = 0) -> tuple[list[float], list[float]]:
    """Select two ratings of each item and assign them at random to rater 1 and rater 2 (Merdivan et al. 2020, Table 2).

    :param ratings: the ratings of each item; items with fewer than two are left out.
    :param pairing: which two: the ``closest`` (the lower of equally close pairs), the ``lowest``, the ``highest`` or
        ``random`` ones.
    :param seed: random choices depend on it and on the item's index, not on other items.
    :returns: the ratings of rater 1 and of rater 2, one per item.
    :raises NotComputableError: if no item has two ratings, or a rating is not a finite number.
    :raises OptionError: for an unknown pairing.
    """
    _check_option("pairing", pairing, PAIRINGS)
    rows = _rows(ratings)
    # Two draws per item, row by row: those of an item do not depend on how many rows follow.
    draws = np.random.default_rng(seed).random((len(rows), 2))
    pairs = [_two_of(sorted(row), pairing, *draw) for row, draw in zip(rows, draws, strict=True) if len(row) > 1]
    if not pairs:
        raise NotComputableError(f"no agreement: none of {len(rows)} items has two ratings")
    return [first for first, _ in pairs], [second for _, second in pairs]


def _two_of(row: list[float], pairing: str, which: float, order: float) -> tuple[float, float]:
    """Select two ratings of a sorted row. ``which`` and ``order``, in [0, 1), determine the random choices."""
    if pairing == "closest":
        low, high = min(pairwise(row), key=lambda pair: pair[1] - pair[0])
    elif pairing == "lowest":
        low, high = row[:2]
    elif pairing == "highest":
        low, high = row[-2:]
    else:
        pairs = list(combinations(row, 2))
        low, high = pairs[int(which * len(pairs))]
    return (low, high) if order < 0.5 else (high, low)


def weighted_kappa(
    first: Sequence[float | None],
    second: Sequence[float | None],
    weights: str = "quadratic",
    scale: Sequence[float] | None = None,
) -> float:
    """Return Cohen's weighted kappa of two raters (Cohen 1968): disagreements are weighted by steps on the scale.

    :param first: ``(n,)``, rater 1's ratings.
    :param second: ``(n,)``, rater 2's ratings of the same items; items that one of them did not rate are left out.
    :param weights: ``linear`` in the steps, or ``quadratic``.
    :param scale: all values that a rating can have; by default those that occur.
    :raises NotComputableError: if no item has two ratings, a rating is not on the scale, or all ratings are equal.
    :raises OptionError: for unknown weights.
    """
    _check_option("weights", weights, WEIGHTS)
    if len(first) != len(second):
        raise NotComputableError(
            f"no kappa for {len(first)} ratings by one rater and {len(second)} by the other: each item needs both"
        )
    values, rows = _on_scale(_rows(list(zip(first, second, strict=True))), scale)
    return _weighted_kappa(_pairs_of_two(_rated(rows), len(values)).table(), weights)


def fleiss_kappa(ratings: Ratings, scale: Sequence[float] | None = None) -> float:
    """Return Fleiss' kappa (Fleiss 1971), for items with equally many ratings, by the same raters or different ones.

    :param ratings: the ratings of each item.
    :param scale: all values that a rating can have. It is only used to reject other ratings.
    :raises NotComputableError: if items differ in their number of ratings, apart from those with fewer than two, which
        are ignored; if no item has two, a rating is not on the scale, or all ratings are equal.
    """
    values, rows = _on_scale(_rows(ratings), scale)
    return _fleiss_kappa(_pairs_of_all(_balanced(rows), len(values)).table())


def krippendorff_alpha(ratings: Ratings, level: str = "ordinal") -> float:
    """Return Krippendorff's alpha (Krippendorff 2011); items with fewer than two ratings are ignored.

    :param ratings: the ratings of each item, any number of them.
    :param level: level of measurement: ``nominal``, ``ordinal``, ``interval``, or ``ratio`` for ratings of at least 0.
    :raises NotComputableError: if no item has two ratings, or all ratings are equal.
    :raises OptionError: for an unknown level, or for ``ratio`` with negative ratings.
    """
    _check_option("level", level, LEVELS)
    values, rows = _on_scale(_rows(ratings))
    if level == "ratio" and (values < 0).any():
        raise OptionError(f"level ratio: needs ratings of at least 0, but one is {values[0]:g}: use interval")
    return _alpha(_pairs_of_all(_rated(rows), len(values)).table(), values, level)


def agreement(ratings: Ratings, scale: Sequence[float], seed: int = 0, resamples: int = 1000) -> AgreementReport:
    """Measure agreement on a scale: weighted kappa of the four pairings, Fleiss' kappa and Krippendorff's alpha.

    A measure that cannot be computed is returned with the reason; the others are computed anyway.

    :param ratings: the ratings of each item.
    :param scale: all values that a rating can have.
    :param seed: for the pairings and the bootstrap.
    :param resamples: number of bootstrap samples of the items, for the intervals.
    :raises NotComputableError: if no item has two ratings, or a rating is not on the scale.
    """
    values, rows = _on_scale(_rows(ratings), scale)
    rated, size = _rated(rows), len(values)
    n_ratings = sum(map(len, rated))

    def measured(
        name: str, pairs: Callable[[], _Pairs], measure: Callable[[Floats], float], **how: object
    ) -> Agreement:
        made = signature(name, **how, n=len(rated), ratings=n_ratings, interval="95%", resamples=resamples, seed=seed)
        try:
            return Agreement(*_with_interval(pairs(), measure, resamples, seed), made)
        except NotComputableError as error:
            return Agreement(None, None, None, made, str(error))

    def kappa(pairing: str, weights: str) -> Agreement:
        _, two = _on_scale([list(pair) for pair in zip(*two_ratings(ratings, pairing, seed), strict=True)], scale)
        how = {"pairing": pairing, "weights": weights, "scale": f"{values[0]:g}..{values[-1]:g}", "values": size}
        measure = partial(_weighted_kappa, weights=weights)
        return measured("weighted kappa", lambda: _pairs_of_two(two, size), measure, **how)

    def alpha(level: str) -> Agreement:
        measure = partial(_alpha, values=values, level=level)
        return measured("Krippendorff's alpha", lambda: _pairs_of_all(rated, size), measure, level=level)

    return AgreementReport(
        items=len(rated),
        ratings=n_ratings,
        left_out=len(rows) - len(rated),
        kappas={(pairing, weights): kappa(pairing, weights) for pairing in PAIRINGS for weights in WEIGHTS},
        fleiss=measured("Fleiss' kappa", lambda: _pairs_of_all(_balanced(rows), size), _fleiss_kappa),
        alphas={level: alpha(level) for level in ("ordinal", "interval")},
    )


def _with_interval(
    pairs: _Pairs, measure: Callable[[Floats], float], resamples: int, seed: int
) -> tuple[float, float | None, float | None]:
    """Return the value over all items, and both ends of its 95 % bootstrap interval.

    They are None for a single item, if all resamples give the same value, which would look certain, and if too few
    resamples have a value: that of all items is known anyway.
    """

    def value_of(drawn: Places) -> float:
        return measure(pairs.table(np.bincount(drawn, minlength=pairs.n)))

    value = measure(pairs.table())
    if pairs.n < 2:  # resampling it always gives the same
        return value, None, None
    with suppress(NotComputableError):
        return value, *interval_of(bootstrap(value_of, pairs.n, resamples, seed), pairs.n, of_means=False)
    return value, None, None


# --- the measures, from a table (values, values) of how often each pair of values was observed -----------------------


def _weighted_kappa(observed: Floats, weights: str) -> float:
    places = np.arange(len(observed))
    steps = np.abs(places[:, None] - places)
    return _beyond_chance(observed, steps if weights == "linear" else steps**2, observed.sum())


def _fleiss_kappa(observed: Floats) -> float:
    return _beyond_chance(observed, 1 - np.eye(len(observed)), observed.sum())


def _alpha(observed: Floats, values: Floats, level: str) -> float:
    frequencies = observed.sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported at the end
        return _beyond_chance(observed, _distances(level, values, frequencies), frequencies.sum() - 1)


def _beyond_chance(observed: Floats, distances: Floats, total: float) -> float:
    """Return 1 - observed / expected disagreement, with expected pairs the product of the margins over ``total``."""
    chance = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / total
    expected, found = float((distances * chance).sum()), float((distances * observed).sum())
    if expected == 0:
        raise NotComputableError(
            "no agreement beyond chance: all ratings are equal; items with different ratings are needed"
        )
    if not (math.isfinite(expected) and math.isfinite(found)):
        raise NotComputableError("no agreement: ratings are too far apart to compute with: correct or rescale them")
    return 1 - found / expected


def _distances(level: str, values: Floats, frequencies: Floats) -> Floats:
    """Return the distances between all pairs of values, ``(values, values)`` (Krippendorff 2011)."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    if level == "ordinal":  # the ranks between two values, each of the two counting half
        values = np.cumsum(frequencies) - frequencies / 2
    differences = values[:, None] - values
    if level == "ratio":
        sums = values[:, None] + values
        differences = np.divide(differences, sums, out=np.zeros_like(sums), where=sums != 0)
    return differences**2


# --- pairs of ratings, as indices on the scale -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Pairs:
    """Pairs of ratings of the same item.

    :param n: the number of items.
    :param size: the number of values on the scale.
    :param items: ``(pairs,)``, the index of the pair's item.
    :param cells: ``(pairs,)``, the pair's index in a flattened table of values by values.
    :param weights: ``(pairs,)``, the pair's weight in the table.
    """

    n: int
    size: int
    items: Places
    cells: Places
    weights: Floats

    def table(self, times: NDArray[Any] | None = None) -> Floats:
        """Count how often values are paired, ``(size, size)``, with each item counted ``times`` times, ``(n,)``."""
        weights = self.weights if times is None else self.weights * times[self.items]
        flat = np.bincount(self.cells, weights, self.size**2).astype(np.float64)
        return flat.reshape(self.size, self.size)


def _pairs_of_two(rows: Rows, size: int) -> _Pairs:
    """Pair the first rating of each item with the second."""
    return _pairs(((item, first, second, 1.0) for item, (first, second) in enumerate(rows)), len(rows), size)


def _pairs_of_all(rows: Rows, size: int) -> _Pairs:
    """Pair each rating with each other one of its item, weighted so that all ratings have the same total weight."""
    return _pairs(_counted_pairs(rows), len(rows), size)


def _counted_pairs(rows: Rows) -> Iterator[tuple[int, int, int, float]]:
    for item, row in enumerate(rows):
        times = Counter(row)  # an item with thousands of ratings has millions of pairs, but few different ones
        for a, b in product(times, repeat=2):
            pairs = times[a] * (times[b] - (a == b))
            yield item, a, b, pairs / (len(row) - 1)


def _pairs(pairs: Iterable[tuple[int, int, int, float]], n: int, size: int) -> _Pairs:
    items, first, second, weights = np.array(list(pairs)).T
    return _Pairs(n, size, items.astype(np.intp), (first * size + second).astype(np.intp), weights)


# --- checks of the input ---------------------------------------------------------------------------------------------


def _rows(ratings: Ratings) -> list[list[float]]:
    """Return the ratings of each item without missing ones; an error if one is not a finite number."""
    rows = [[float(rating) for rating in item if rating is not None] for item in ratings]
    for place, row in enumerate(rows):
        for rating in row:
            if not math.isfinite(rating):
                raise NotComputableError(
                    f"item {place} (the first is 0) has the rating {rating}: give None for a missing one"
                )
    return rows


def _on_scale(rows: list[list[float]], scale: Sequence[float] | None = None) -> tuple[Floats, Rows]:
    """Return the sorted values of the scale, by default those that occur, and each rating's index among them."""
    values = sorted({rating for row in rows for rating in row} if scale is None else set(scale))
    places = {value: place for place, value in enumerate(values)}
    for place, row in enumerate(rows):
        for rating in row:
            if rating not in places:
                known = ", ".join(f"{value:g}" for value in values)
                raise NotComputableError(
                    f"item {place} (the first is 0) has the rating {rating:g}, which is not on the scale: {known}"
                )
    return np.array(values), [[places[rating] for rating in row] for row in rows]


def _rated(rows: Rows) -> Rows:
    """Return the items with at least two ratings; an error if there are none."""
    rated = [row for row in rows if len(row) > 1]
    if not rated:
        raise NotComputableError(f"no agreement: none of {len(rows)} items has two ratings")
    return rated


def _balanced(rows: Rows) -> Rows:
    """Return the items with at least two ratings; an error unless all of them have the same number."""
    rated = _rated(rows)
    counts = [len(row) for row in rated]
    if min(counts) < max(counts):
        raise NotComputableError(
            f"no Fleiss' kappa: items have {min(counts)} to {max(counts)} ratings each: "
            "use Krippendorff's alpha, which allows any number"
        )
    return rated


def _check_option(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise OptionError(f"{name} {value!r}: must be one of {', '.join(known)}")
