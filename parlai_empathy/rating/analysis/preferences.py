"""Pairwise comparisons: wins, ties and losses, and the strength of each system."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.analysis.answers import columns_of
from parlai_empathy.rating.names import UNITS
from parlai_empathy.rating.rating import Rating
from parlai_empathy.signature import signature
from parlai_empathy.statistics.bootstrap import Floats, interval_of
from parlai_empathy.statistics.bradley_terry import bradley_terry
from parlai_empathy.statistics.cluster_bootstrap import cluster_bootstrap

Tally = tuple[int, int, int]
"""Wins of the first system, ties, and losses."""


def tallies(preferences: Sequence[Rating], unit: str = "rating") -> dict[tuple[str, str], Tally]:
    """Count wins, ties and losses for each pair of systems.

    :param preferences: of one question, with the systems in alphabetical order.
    :param unit: one of :data:`UNITS`. An item with as many wins as losses is a tie.
    :raises OptionError: for an unknown unit.
    """
    if unit not in UNITS:
        raise OptionError(f"unit {unit!r}: must be one of {', '.join(UNITS)}")
    sums: dict[tuple[str, str], dict[object, float]] = defaultdict(lambda: defaultdict(float))
    for place, one in enumerate(preferences):
        key = one.place if unit == "item" else place
        sums[one.system, one.other][key] += one.rating or 0.0
    found = {}
    for pair, values in sorted(sums.items()):
        signs = Counter((value > 0) - (value < 0) for value in values.values())
        found[pair] = (signs[1], signs[0], signs[-1])
    return found


class Strengths(NamedTuple):
    """The Bradley-Terry strengths of systems, for one question.

    :param values: maps systems, strongest first, to the strength in log-odds around a mean of 0, and its 95 % interval
        or None.
    :param reason: why there are no intervals, or why one is missing; None if there are all.
    """

    values: Mapping[str, tuple[float, tuple[float, float] | None]]
    reason: str | None
    signature: str


def strengths(preferences: Sequence[Rating], clusters: str, resamples: int, seed: int) -> Strengths:
    """Fit Bradley-Terry strengths, with intervals from resampling items, raters or both.

    :param preferences: of one question, at least one, with the systems in alphabetical order.
    :raises NotComputableError: if no finite strengths exist: see :mod:`parlai_empathy.statistics.bradley_terry`.
    """
    names = sorted({name for one in preferences for name in (one.system, one.other)})
    places = {name: place for place, name in enumerate(names)}
    first = np.array([places[one.system] for one in preferences])
    second = np.array([places[one.other] for one in preferences])
    columns = columns_of(preferences)
    share = (columns.values + 1) / 2  # of a win: a tie is half a win for each side

    def fit(weights: Floats) -> Floats:
        wins = np.zeros((len(names), len(names)))
        np.add.at(wins, (first, second), weights * share)
        np.add.at(wins, (second, first), weights * (1 - share))
        return bradley_terry(wins, names)

    values = fit(np.ones(len(preferences)))
    drawn: list[Floats] = []

    def keep(weights: Floats) -> float:
        drawn.append(fit(weights))
        return 0.0  # unused: the strengths of each resample are in the list

    reason = None
    try:
        cluster_bootstrap(keep, columns.items, columns.raters, clusters, resamples, seed)
    except NotComputableError as error:
        reason = str(error)
    usable = None if reason else len(drawn)
    intervals: list[tuple[float, float] | None] = [None] * len(names)
    for at, values_of_one in enumerate(np.array(drawn).T if usable else ()):
        try:
            intervals[at] = interval_of(values_of_one, len(drawn), of_means=False)
        except NotComputableError as error:  # all resamples are ties, or one win each
            reason = f"{names[at]}: {error}"
    made = signature(
        "Bradley-Terry",
        ties="half a win",
        scale="log-odds",
        mean=0,
        n=len(preferences),
        interval="95%",
        drawn=clusters,
        resamples=resamples,
        usable=usable,
        seed=seed,
    )
    order = np.argsort(-values, kind="stable")
    return Strengths({names[at]: (float(values[at]), intervals[at]) for at in order}, reason, made)
