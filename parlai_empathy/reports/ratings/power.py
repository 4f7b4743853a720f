"""Power analysis: the ratings needed to detect a difference, and the smallest detectable difference.

Power is computed by formula, and checked by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from parlai_empathy.errors import NotComputableError
from parlai_empathy.reports.cells import NONE, Cell
from parlai_empathy.reports.plots import Curves, Plot
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import signature
from parlai_empathy.statistics.likert_power import (
    LikertDesign,
    likert_detectable,
    likert_items,
    likert_items_normal,
    likert_power,
)
from parlai_empathy.statistics.sign_test_power import (
    sign_test_comparisons,
    sign_test_detectable,
    sign_test_normal,
    sign_test_power,
)
from parlai_empathy.statistics.simulated_power import (
    simulated_rank_test_power,
    simulated_sign_test_power,
    simulated_t_test_power,
)

_MOST_SIMULATED = 20_000  # ratings of one system in a simulated study: more would take minutes
_POINTS = 15  # per curve


@dataclass(frozen=True)
class Aim:
    """The targets of a power analysis.

    :param power: the probability of detecting a real difference.
    :param alpha: the probability of a false positive in any of the comparisons.
    :param comparisons: the number of simultaneous tests.
    :param runs: the number of simulated studies.
    """

    power: float = 0.8
    alpha: float = 0.05
    comparisons: int = 1
    runs: int = 2000
    seed: int = 0

    @property
    def each(self) -> float:
        """Alpha of a single comparison by Bonferroni's correction, which is also the first step of Holm's."""
        return self.alpha / self.comparisons

    def notes(self) -> list[str]:
        """Return notes for a table."""
        corrected = f" divided by {self.comparisons} comparisons: {self.each:.4g}" if self.comparisons > 1 else ""
        return [
            f"- power {self.power:g}, two-sided alpha {self.alpha:g}{corrected}",
            f"- by trial: {self.runs:,} studies drawn and tested, seed {self.seed}",
        ]


# --- points on a scale -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """The points of a scale, and the mean of its ratings, for simulations with whole points."""

    points: Sequence[float] = (1, 2, 3, 4, 5)
    mean: float | None = None

    @property
    def middle(self) -> float:
        """The mean, or the middle of the scale if the mean is unknown."""
        return (min(self.points) + max(self.points)) / 2 if self.mean is None else self.mean


def likert_needed(
    design: LikertDesign, differences: Sequence[float], raters: Sequence[int], scale: Scale, aim: Aim
) -> tuple[Table, list[Plot]]:
    """Return how many items each of two systems needs, for each difference and number of raters per reply.

    :param differences: in points of the scale.
    :param raters: numbers of raters per reply.
    """
    rows: list[list[Cell]] = []
    notes = []
    for difference in differences:
        for many in raters:
            one = replace(design, raters=many)
            try:
                rows.append([difference, many, *_needed(one, difference, scale, aim)])
            except NotComputableError as error:
                rows.append([difference, many, *[NONE] * 6])
                notes.append(f"- {difference:g} points, {many} rater(s): {error}")
    header = [
        *("difference", "raters a reply", "items", "ratings of each system", "items, by the normal distribution"),
        *("power", "power by trial", "power by trial, ranks of whole points"),
    ]
    notes += [
        "- items: of the t test of items' means, of pairs where both systems reply to the same items",
        "- ranks of whole points: each rating is a point of the scale "
        f"({', '.join(f'{point:g}' for point in scale.points)}) about a mean of {scale.middle:.3g}, and the test is "
        "that of ratings_report; some of the difference is lost at the ends of the scale",
        *aim.notes(),
        f"- no trial of studies of more than {_MOST_SIMULATED:,} ratings of each system",
        f"- {_likert_signature(design, aim)}",
    ]
    return Table("Ratings that a difference needs", header, rows, notes), _likert_curves(
        design, differences, raters, aim
    )


def _needed(design: LikertDesign, difference: float, scale: Scale, aim: Aim) -> list[Cell]:
    items = likert_items(design, difference, aim.power, aim.each)
    by_trial: list[Cell] = [NONE, NONE]
    if items * design.raters <= _MOST_SIMULATED:
        by_trial = [
            simulated_t_test_power(design, difference, items, aim.each, aim.runs, aim.seed),
            simulated_rank_test_power(
                design, difference, items, scale.points, scale.middle, aim.each, aim.runs, aim.seed
            ),
        ]
    return [
        items,
        items * design.raters,
        math.ceil(likert_items_normal(design, difference, aim.power, aim.each)),
        likert_power(design, difference, items, aim.each),
        *by_trial,
    ]


def _likert_signature(design: LikertDesign, aim: Aim) -> str:
    return signature(
        "power",
        test="t, two-sided",
        pairing="by item" if design.paired else "none",
        sd=f"{design.sd:.4g}",
        same_reply=f"{design.same_reply:.3g}",
        same_item=f"{design.same_item:.3g}",
        alpha=f"{aim.each:.4g}",
        runs=aim.runs,
        seed=aim.seed,
    )


def likert_seen(design: LikertDesign, items: Sequence[int], raters: Sequence[int], aim: Aim) -> Table:
    """Return the smallest difference that can be detected with each number of items per system."""
    rows: list[list[Cell]] = []
    notes = []
    for n in items:
        for many in raters:
            one = replace(design, raters=many)
            try:
                points = likert_detectable(one, n, aim.power, aim.each)
                rows.append([n, many, n * many, points, points / design.sd])
            except NotComputableError as error:
                rows.append([n, many, n * many, NONE, NONE])
                notes.append(f"- {n} items, {many} rater(s): {error}")
    header = ["items", "raters a reply", "ratings of each system", "difference in points", "in standard deviations"]
    notes += [*aim.notes()[:1], f"- {_likert_signature(design, aim)}"]
    return Table("The smallest difference that so many ratings show", header, rows, notes)


def _likert_curves(design: LikertDesign, differences: Sequence[float], raters: Sequence[int], aim: Aim) -> list[Plot]:
    series = {}
    for difference in differences:
        for many in raters:
            one = replace(design, raters=many)
            try:
                most = likert_items(one, difference, max(aim.power, 0.95), aim.each)
            except NotComputableError:
                continue
            name = f"{difference:g} points, {many} rater{'s' if many > 1 else ''}"
            series[name] = _curve(_power_of_items(one, difference, aim), 2, most)
    if not series:
        return []
    return [Curves("power_of_ratings", "Power of ratings", "items of each system", "power", series)]


def _power_of_items(design: LikertDesign, difference: float, aim: Aim) -> Callable[[int], float]:
    return lambda items: likert_power(design, difference, items, aim.each)


def _curve(power: Callable[[int], float], low: int, high: int) -> list[tuple[float, float]]:
    """Return evenly spaced points, from left to right."""
    counts = sorted({round(low + (high - low) * step / (_POINTS - 1)) for step in range(_POINTS)})
    return [(float(count), power(count)) for count in counts]


# --- A or B ----------------------------------------------------------------------------------------------------------


def wins_needed(shares: Sequence[float], ties: float, aim: Aim) -> tuple[Table, list[Plot]]:
    """Return how many comparisons are needed to detect each win rate.

    :param shares: win rates among decided comparisons, 0..1.
    :param ties: the share of ties among all comparisons, 0 to below 1.
    """
    rows: list[list[Cell]] = []
    notes, series = [], {}
    for share in shares:
        try:
            decided = sign_test_comparisons(share, aim.power, aim.each)
        except NotComputableError as error:
            rows.append([share, *[NONE] * 5])
            notes.append(f"- {share:g}: {error}")
            continue
        rows.append(
            [
                share,
                decided,
                math.ceil(decided / (1 - ties) - 1e-9),  # 42 / (1 - .3) is a little above 60
                math.ceil(sign_test_normal(share, aim.power, aim.each)),
                sign_test_power(share, decided, aim.each),
                simulated_sign_test_power(share, decided, aim.each, aim.runs, aim.seed),
            ]
        )
        series[f"wins {share:g} of decided"] = _curve(_power_of_wins(share, aim), 5, decided + decided // 4 + 5)
    header = [
        *("win rate", "decided comparisons", "with ties", "decided, by the normal distribution", "power"),
        "power by trial",
    ]
    notes += [
        "- comparisons: one per item, exact sign test; from this number on the power does not fall below its aim again",
        f"- with ties: {100 * ties:g} % of all comparisons are ties, which the test leaves out",
        *aim.notes(),
    ]
    plots: list[Plot] = []
    if series:
        plots = [Curves("power_of_comparisons", "Power of comparisons", "decided comparisons", "power", series)]
    return Table("Comparisons that a win rate needs", header, rows, notes), plots


def _power_of_wins(share: float, aim: Aim) -> Callable[[int], float]:
    return lambda decided: sign_test_power(share, decided, aim.each)


def wins_seen(counts: Sequence[int], ties: float, aim: Aim) -> Table:
    """Return the smallest win rate above one half that can be detected with each number of comparisons.

    :param counts: numbers of comparisons, including ties.
    """
    rows: list[list[Cell]] = []
    notes = []
    for n in counts:
        decided = math.floor(n * (1 - ties) + 1e-9)
        try:
            rows.append([n, decided, sign_test_detectable(decided, aim.power, aim.each)])
        except NotComputableError as error:
            rows.append([n, decided, NONE])
            notes.append(f"- {n} comparisons: {error}")
    header = ["comparisons", "decided", "win rate"]
    return Table("The smallest win rate that so many comparisons show", header, rows, [*notes, *aim.notes()[:1]])
