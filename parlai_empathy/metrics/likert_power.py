"""How many ratings on a scale a difference needs to be seen, and how small a difference so many ratings can see.

A rating is its item's own mean plus what raters add. Of the variance ``sd**2`` of a system's ratings the share
``same_reply`` is the reply's: it is the correlation of two ratings of one reply. Of that, ``same_item`` is the item's,
whichever system replies: the correlation of ratings of two systems' replies to one item. With ``r`` raters for each
reply, the difference of two systems' means on an item has the variance (Snedecor and Cochran 1989, chapter 13)

    2 * sd**2 * (same_reply - same_item + (1 - same_reply) / r)

and the test is the t test of the items' means: of pairs where both systems replied to the same items, else of two
samples. Its power comes from the noncentral t distribution (Cohen 1988, chapter 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import optimize, stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.power import check_alpha, check_power

_MOST = 1_000_000
"""More items than anybody could have rated: a difference that needs them is none in practice."""


@dataclass(frozen=True)
class LikertDesign:
    """How ratings on a scale are collected, and how much they vary.

    :param sd: standard deviation of a system's single ratings, in points, above 0.
    :param raters: how many rate each reply, at least 1.
    :param same_reply: the correlation of two ratings of one reply, 0..1.
    :param same_item: the correlation of ratings of two systems' replies to one item, 0..``same_reply``.
    :param paired: whether both systems reply to the same items. If not, ``same_item`` is 0.
    :raises OptionError: for a value that cannot be.
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
            raise OptionError(f"correlation {self.same_item:g} of replies to one item: without pairs it must be 0")

    def standard_error(self, items: float) -> float:
        """Of the difference of two systems' means, each of so many items."""
        share = self.same_reply - self.same_item + (1 - self.same_reply) / self.raters
        return self.sd * math.sqrt(2 * share / items)

    def freedom(self, items: float) -> float:
        """Degrees of freedom of the t test."""
        return items - 1 if self.paired else 2 * items - 2


def likert_power(design: LikertDesign, difference: float, items: float, alpha: float = 0.05) -> float:
    """How probably the two-sided t test sees a difference of two systems' means, 0..1.

    :param difference: in points.
    :param items: with replies of each system; at least 2.
    """
    check_alpha(alpha)
    if items < 2:
        raise NotComputableError(f"no power of {items:g} items: a t test needs two")
    error, freedom = design.standard_error(items), design.freedom(items)
    if error == 0:  # every rating of an item says the same
        return 1.0 if difference else alpha
    critical = float(stats.t.isf(alpha / 2, freedom))
    centre = abs(difference) / error
    upper, lower = float(stats.nct.sf(critical, freedom, centre)), float(stats.nct.cdf(-critical, freedom, centre))
    if not math.isfinite(upper):  # far out, where SciPy has no noncentral t and the power is as good as 1
        upper = float(stats.norm.sf(critical - centre))
    # Nor has SciPy the other tail where next to nothing is left of it.
    return min(1.0, upper + (lower if math.isfinite(lower) else 0.0))


def likert_items(design: LikertDesign, difference: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """The fewest items with which the difference is seen so probably.

    :raises NotComputableError: if there is no difference, any difference is seen, or more than a million items would be
        needed.
    :raises OptionError: for a power or alpha that is no probability.
    """
    check_power(power, alpha)
    _check_there_is_something_to_see(design, difference)
    return _first(lambda items: likert_power(design, difference, items, alpha) >= power, 2, _MOST)


def likert_items_normal(design: LikertDesign, difference: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The same by the normal distribution, as textbooks have it: ``((z(1 - alpha/2) + z(power)) * error / d)**2``."""
    check_power(power, alpha)
    _check_there_is_something_to_see(design, difference)
    z = stats.norm.isf(alpha / 2) + stats.norm.ppf(power)
    return float((z * design.standard_error(1) / difference) ** 2)


def likert_detectable(design: LikertDesign, items: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference in points that so many items show so probably."""
    check_power(power, alpha)
    _check_there_is_spread(design)
    high = design.standard_error(items)
    while likert_power(design, high, items, alpha) < power:
        high *= 2
    return float(optimize.brentq(lambda d: likert_power(design, d, items, alpha) - power, 0.0, high, xtol=1e-10))


def _check_there_is_something_to_see(design: LikertDesign, difference: float) -> None:
    if not difference:
        raise NotComputableError("no number of items shows a difference of 0")
    _check_there_is_spread(design)


def _check_there_is_spread(design: LikertDesign) -> None:
    if not design.standard_error(2):
        raise NotComputableError("any difference is seen: ratings of an item that are all the same vary in nothing")


def _first(enough: Callable[[int], bool], low: int, most: int) -> int:
    """The first number that is enough, where all after it are too."""
    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        if high >= most:
            raise NotComputableError(
                f"more than {most:,} items would be needed: the difference is too small to be seen"
            )
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
