"""Power of ratings on a scale: how many items a difference needs, and what difference a number of items can detect.

A rating is its item's mean plus the rater's deviation. Of the variance ``sd**2`` of a system's ratings, the share
``same_reply`` is due to the reply: it is the correlation of two ratings of one reply. Of this, ``same_item`` is due to
the item, whichever system replies: the correlation of ratings of two systems' replies to one item. With ``r`` raters
per reply, the difference of two systems' means on an item has the variance (Snedecor and Cochran 1989, chapter 13)

    2 * sd**2 * (same_reply - same_item + (1 - same_reply) / r)

The test is the t test of the items' means: paired if both systems replied to the same items, otherwise for two samples.
Its power comes from the noncentral t distribution (Cohen 1988, chapter 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import optimize, stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.power import check_alpha, check_power

_MOST = 1_000_000
"""More items than anybody could have rated: a difference that needs more is irrelevant in practice."""


@dataclass(frozen=True)
class LikertDesign:
    """How ratings on a scale are collected, and how much they vary.

    :param sd: standard deviation of a system's single ratings, in points, above 0.
    :param raters: number of raters per reply, at least 1.
    :param same_reply: the correlation of two ratings of one reply, 0..1.
    :param same_item: the correlation of ratings of two systems' replies to one item, 0..``same_reply``.
    :param paired: whether both systems reply to the same items. If not, ``same_item`` must be 0.
    :raises OptionError: for an invalid value.
    """

    sd: float
    raters: int = 1
    same_reply: float = 0.0
    same_item: float = 0.0
    paired: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sd) and self.sd > 0):
            raise OptionError(f"standard deviation {self.sd:g}: must be a finite number above 0")
        if self.raters < 1:
            raise OptionError(f"raters {self.raters}: each reply needs at least 1")
        if not 0 <= self.same_item <= self.same_reply <= 1:
            raise OptionError(
                f"correlation {self.same_item:g} of replies to one item and {self.same_reply:g} of ratings of one "
                "reply: they must lie between 0 and 1, the first not above the second"
            )
        if not self.paired and self.same_item:
            raise OptionError(
                f"correlation {self.same_item:g} of replies to one item: it must be 0 if items are not paired"
            )

    def standard_error(self, items: float) -> float:
        """Return the standard error of the difference of two systems' means, each over this number of items."""
        share = self.same_reply - self.same_item + (1 - self.same_reply) / self.raters
        return self.sd * math.sqrt(2 * share / items)

    def freedom(self, items: float) -> float:
        """Return the t test's degrees of freedom."""
        return items - 1 if self.paired else 2 * items - 2


def likert_power(design: LikertDesign, difference: float, items: float, alpha: float = 0.05) -> float:
    """Return the power of the two-sided t test for a difference of two systems' means, 0..1.

    :param difference: in points.
    :param items: number of items per system; at least 2.
    :raises OptionError: for an invalid alpha, or if the difference is NaN.
    :raises NotComputableError: if there are fewer than two items.
    """
    check_alpha(alpha)
    check_items(items)
    if math.isnan(difference):
        raise OptionError(f"difference {difference}: must be a number of points")
    error, freedom = design.standard_error(items), design.freedom(items)
    if error == 0:  # all ratings of an item are equal
        return 1.0 if difference else alpha
    critical = float(stats.t.isf(alpha / 2, freedom))
    centre = abs(difference) / error
    upper, lower = float(stats.nct.sf(critical, freedom, centre)), float(stats.nct.cdf(-critical, freedom, centre))
    if not math.isfinite(upper):  # far out, where SciPy's noncentral t fails and the power is practically 1
        upper = float(stats.norm.sf(critical - centre))
    # SciPy also fails for the other tail where it is negligible.
    return min(1.0, upper + (lower if math.isfinite(lower) else 0.0))


def likert_items(design: LikertDesign, difference: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return the smallest number of items for which the test has this power.

    :raises NotComputableError: if the difference is 0, if ratings do not vary so that any difference is detected, or if
        more than a million items would be needed.
    :raises OptionError: for an invalid power or alpha, or if the difference is NaN.
    """
    check_power(power, alpha)
    _check_difference(design, difference)
    return _first(lambda items: likert_power(design, difference, items, alpha) >= power, 2, _MOST)


def likert_items_normal(design: LikertDesign, difference: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the same by the textbook's normal approximation: ``((z(1 - alpha/2) + z(power)) * error / d)**2``.

    :raises NotComputableError: if the difference is 0, or if ratings do not vary.
    :raises OptionError: for an invalid power or alpha.
    """
    check_power(power, alpha)
    _check_difference(design, difference)
    z = stats.norm.isf(alpha / 2) + stats.norm.ppf(power)
    return float((z * design.standard_error(1) / difference) ** 2)


def likert_detectable(design: LikertDesign, items: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest difference, in points, for which the test on this number of items has this power.

    :raises NotComputableError: if there are fewer than two items, or if ratings do not vary.
    :raises OptionError: for an invalid power or alpha.
    """
    check_power(power, alpha)
    check_items(items)
    _check_spread(design)
    high = design.standard_error(items)
    while likert_power(design, high, items, alpha) < power:
        high *= 2
    return float(optimize.brentq(lambda d: likert_power(design, d, items, alpha) - power, 0.0, high, xtol=1e-10))


def check_items(items: float) -> None:
    """Raise :class:`NotComputableError` if there are too few items for a t test."""
    if items < 2:
        raise NotComputableError(f"no power for {items:g} items: a t test needs at least two")


def _check_difference(design: LikertDesign, difference: float) -> None:
    if not difference:
        raise NotComputableError("no number of items can detect a difference of 0")
    _check_spread(design)


def _check_spread(design: LikertDesign) -> None:
    if not design.standard_error(2):
        raise NotComputableError("any difference is detected: the ratings do not vary")


def _first(enough: Callable[[int], bool], low: int, most: int) -> int:
    """Return the smallest number that is enough, assuming that all larger ones are too."""
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        if high >= most:
            raise NotComputableError(
                f"more than {most:,} items would be needed: the difference is too small to be detected"
            )
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
