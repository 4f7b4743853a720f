"""Report of scored replies: metrics, intervals, differences between systems, and correlation with people's ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats
from tqdm import tqdm

from parlai_empathy.errors import DataError, NotComputableError
from parlai_empathy.reports.cells import Cell, PValue
from parlai_empathy.reports.plots import Curves, Grid, Interval, Intervals, Panels, Plot
from parlai_empathy.reports.signature_notes import signature_notes
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.scored import Scored, stacked
from parlai_empathy.scoring.systems import System, SystemScores, common_items, note_on_matches
from parlai_empathy.statistics.bootstrap import bootstrap, interval_of
from parlai_empathy.statistics.paired import PairedDifference, holm, paired_difference, swaps_for

_FEWEST = 3  # the minimum number of pairs for a correlation
_REPEATED = "resampling repeats replies, which lowers variety"
_KINDS = (
    "- 95 % interval: of means, expanded percentiles, which are wide enough for few replies (Hesterberg 2015); of "
    "other numbers, plain percentiles"
)
Ratings = Mapping[str, Mapping[str, Sequence[float]]]
"""The ratings by question and item."""


def columns(scores: Sequence[SystemScores]) -> dict[str, str]:
    """Return the keys and titles of all metrics that any system has."""
    return {key: one.title for system in scores for key, one in system.scores.items()}


def numbers_table(scores: Sequence[SystemScores], left_out: Sequence[str] = (), more: Sequence[str] = ()) -> Table:
    """Return a table with one row per system and one column per metric.

    :param left_out: notes on metrics that no system has, and on systems that are missing.
    :param more: other notes.
    """
    titles = columns(scores)
    rows: list[list[Cell]] = [
        [
            one.name,
            len(one.system.replies),
            one.system.empty,
            one.system.no_answers,
            *(one.numbers.get(key) for key in titles),
        ]
        for one in scores
    ]
    notes = [
        *signature_notes({one.name: one.numbers for one in scores}),
        *more,
        *dict.fromkeys(f"- {one.name}: left out: {text}" for one in scores for text in one.missing),
        *(f"- left out: {text}" for text in left_out),
        "- no answer: replies that a system failed to give; no number counts them",
    ]
    return Table("Replies", ["system", "replies", "empty", "no answer", *titles.values()], rows, notes)


def intervals_table(scores: Sequence[SystemScores], resamples: int, seed: int = 0) -> tuple[Table, list[Plot]]:
    """Return each number with its bootstrap interval over the replies, and the number of replies without a value.

    If there are several systems, a plot shows them side by side for each metric.
    """
    rows: list[list[Cell]] = []
    notes: dict[str, None] = {}
    shown: dict[str, dict[str, Interval]] = {}
    for one in scores:
        for found in one.scores.values():
            interval = _interval(found, resamples, seed)
            known = len(found.items) - found.left_out
            rows.append([one.name, found.title, known or None, found.left_out or None, found.number, interval])
            shown.setdefault(found.title, {})[one.name] = (found.number, *(interval or (found.number, found.number)))
            if found.items and interval is None:
                what, why = found.title, _REPEATED
                if found.has_interval:
                    what, why = f"{one.name}, {found.title}", "too few replies that differ"
                notes[f"- {what}: no interval: {why}"] = None
    title = f"Numbers with 95 % intervals ({resamples:,} bootstrap samples of the replies)"
    table = Table(title, ["system", "metric", "n", "without a value", "value", "95 % interval"], rows, [*notes, _KINDS])
    return table, [_side_by_side([one.name for one in scores], shown)] if len(scores) > 1 else []


def _side_by_side(names: Sequence[str], shown: Mapping[str, Mapping[str, Interval]]) -> Panels:
    parts = [
        Intervals(title, title, "", "", names, {title: values}, from_zero=False) for title, values in shown.items()
    ]
    return Panels("systems", "The systems, metric by metric, with 95 % intervals where there are some", parts)


def _interval(found: Scored, resamples: int, seed: int) -> tuple[float, float] | None:
    if not (found.items and found.has_interval):
        return None
    items = stacked([item for item in found.items if item is not None])
    if len(items) < 2:
        return None
    try:
        values = bootstrap(lambda places: found.value(items[places]), len(items), resamples, seed)
        return interval_of(values, len(items), found.is_mean)
    except NotComputableError:
        return None


def differences_table(scores: Sequence[SystemScores], resamples: int, seed: int = 0) -> Table | None:
    """Return the difference of each system from the first, on their common items; None for a single system.

    :param resamples: the number of bootstrap samples for the intervals, and of swaps for the tests, which take more
        if there are many rows.
    """
    first, *others = scores
    if not others:
        return None
    comparisons = [one for other in others for one in _comparisons(other, first)]
    swaps = swaps_for(len(comparisons), resamples)
    found: list[tuple[str, str, PairedDifference]] = []
    notes = {f"- {one.name}: {text}": None for one in others if (text := note_on_matches(first.system, one.system))}
    for system, metric, pairs in tqdm(comparisons, desc="comparing", disable=not comparisons):
        try:
            found.append((system, metric.title, _difference(metric, pairs, resamples, seed, swaps)))
        except NotComputableError as error:
            notes[f"- {system}, {metric.title}: {error}"] = None
    corrected = holm([one.p_value for *_, one in found])
    rows: list[list[Cell]] = [
        [system, metric, one.n, one.value, one.interval, PValue(one.p_value), PValue(p)]
        for (system, metric, one), p in zip(found, corrected, strict=True)
    ]
    header = ["system", "metric", "items", "difference", "95 % interval", "p", "p (Holm)"]
    return Table(
        f"Differences from {first.name}, on the items that both have",
        header,
        rows,
        [
            *notes,
            f"{_KINDS}; empty if all resamples give the same, and where repeated replies lower the number (Dist-n)",
            f"- p: permutation test, {swaps:,} random swaps of the two systems' replies; Holm: corrected for "
            "all rows of this table",
        ],
    )


def _comparisons(system: SystemScores, first: SystemScores) -> Iterator[tuple[str, Scored, list[tuple[Any, Any]]]]:
    """Yield the system's name, each metric that both systems have, and its pairs of values on their common items."""
    places = common_items(system.system, first.system)
    for key, mine in system.scores.items():
        theirs = first.scores.get(key)
        if places and mine.items and theirs is not None:
            pairs = [(mine.items[i], theirs.items[j]) for i, j in places]
            yield system.name, mine, [pair for pair in pairs if pair[0] is not None and pair[1] is not None]


def _difference(
    metric: Scored, pairs: Sequence[tuple[Any, Any]], resamples: int, seed: int, swaps: int
) -> PairedDifference:
    if not pairs:
        raise NotComputableError("no comparison: no item has a value for both systems")
    both = stacked([item for pair in pairs for item in pair])
    return paired_difference(
        metric.value, both[::2], both[1::2], resamples, seed, metric.has_interval, swaps, metric.is_mean
    )


def turns_table(scores: Sequence[SystemScores]) -> tuple[Table, list[Plot]] | None:
    """Return EPITOME levels by the reply's turn in its conversation (Figure 1 of Lee et al. 2022), with a plot for
    each mechanism; None without EPITOME levels.

    A reply to the first turn is turn 2. Replies whose turn is unknown are left out.
    """
    rows: list[list[Cell]] = []
    curves: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for one in scores:
        for found in (found for key, found in one.scores.items() if key.startswith("epitome_")):
            points = _by_turn(one, found)
            rows += [[one.name, found.title, turn, n, value] for turn, n, value in points]
            if points:
                curves.setdefault(found.title, {})[one.name] = [(turn, value) for turn, _, value in points]
    if not rows:
        return None
    table = Table(
        "EPITOME by turn: the mean level of replies, 0 to 2",
        ["system", "metric", "turn", "replies", "mean level"],
        rows,
    )
    x, y = "turn of the reply in its conversation", "mean level, 0 to 2"
    return table, [Curves(f"{title}_by_turn", f"{title} by turn", x, y, series) for title, series in curves.items()]


def _by_turn(one: SystemScores, found: Scored) -> list[tuple[int, int, float]]:
    """Return for each turn: the turn, the number of replies with a value, and the metric over them."""
    levels: dict[int, list[float]] = {}
    for reply, item in zip(one.system.replies, found.items, strict=True):
        if item is not None and (turn := reply.known_turn):
            levels.setdefault(turn, []).append(item)
    return [(turn, len(items), found.value(stacked(items))) for turn, items in sorted(levels.items())]


def ratings_table(scores: Sequence[SystemScores], ratings: Ratings) -> tuple[Table, list[Plot]]:
    """Correlate people's mean ratings and the metrics, reply by reply (Figure 2 of Lee et al. 2022).

    Each row also says how many rated replies it has a value for.

    :param ratings: items have the names of the replies: see :func:`item_names`.
    :raises NotComputableError: if no rated item is a reply of these systems.
    :raises DataError: if two replies have the same name.
    """
    systems = [one.system for one in scores]
    check_rated(systems, ratings)
    rated, unknown = _rated(systems, ratings)
    series = _by_item(scores)
    nameless = "no question" if "rating" in ratings else "rating"  # avoids two columns with the same name
    people = {
        question or nameless: {item: float(np.mean(values)) for item, values in items.items() if item in rated}
        for question, items in ratings.items()
    }
    every = {**{f"people: {question}": items for question, items in people.items()}, **series}
    names = list(every)
    values = [[_spearman(every[a], every[b]) for b in names] for a in names]
    rows: list[list[Cell]] = [
        [name, len(rated & every[name].keys()), *row] for name, row in zip(names, values, strict=True)
    ]
    title = "Spearman's correlation of people's ratings and metrics, reply by reply"
    notes = [
        "- each correlation is over the replies that have both values, all systems pooled",
        f"- empty: fewer than {_FEWEST} replies, or all values equal",
        *([f"- {len(unknown):,} rated items are not replies of these logs, such as {unknown[0]}"] if unknown else []),
    ]
    header = ["", "rated replies", *names]
    return Table(title, header, rows, notes, digits=2), [Grid("ratings_and_metrics", title, names, values)]


def _rated(systems: Sequence[System], ratings: Ratings) -> tuple[set[str], list[str]]:
    """Return the names of the rated replies, and the rated items that are no replies of these systems."""
    names = {name for one in systems for name in item_names(one)}
    items = dict.fromkeys(item for items in ratings.values() for item in items)
    return {item for item in items if item in names}, [item for item in items if item not in names]


def check_rated(systems: Sequence[System], ratings: Ratings) -> None:
    """Check that some of these replies were rated.

    :raises NotComputableError: if none were.
    :raises DataError: if two replies have the same name.
    """
    names = Counter(name for one in systems for name in item_names(one))
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise DataError(
            f"{names[twice]} replies have the item {twice}, and ratings cannot tell them apart: give each reply of all "
            "logs a distinct item, or none"
        )
    if not any(item in names for items in ratings.values() for item in items):
        raise NotComputableError(
            f"no rated item is one of these replies, which are called {', '.join(list(names)[:2])} and so on: name the "
            "items as the logs do"
        )


def item_names(system: System) -> list[str]:
    """Return the names of a system's replies in records and ratings: the log's item, or else the system's name and the
    reply's position among all its items, from 1, such as ``MoEL#7``.
    """
    return [one.item or f"{system.name}#{system.place(reply) + 1}" for reply, one in enumerate(system.replies)]


def _by_item(scores: Sequence[SystemScores]) -> dict[str, dict[str, float]]:
    """Return the values by reply name for each metric that records values of single replies."""
    series: dict[str, dict[str, float]] = {}
    for one in scores:
        names = item_names(one.system)
        for found in one.scores.values():
            for name, item in zip(names, found.items, strict=bool(found.items)):
                if found.record and isinstance(item, int | float):
                    series.setdefault(found.title, {})[name] = float(item)
    return series


def _spearman(first: Mapping[str, float], second: Mapping[str, float]) -> float | None:
    names = [name for name in first if name in second]
    a, b = [first[name] for name in names], [second[name] for name in names]
    if len(names) < _FEWEST or len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return float(stats.spearmanr(a, b).statistic)


def records(scores: Sequence[SystemScores]) -> list[dict[str, object]]:
    """Return one record per reply, with its value of each metric, for further analysis."""
    found = []
    for one in scores:
        for place, (reply, name) in enumerate(zip(one.system.replies, item_names(one.system), strict=True)):
            values = {
                key: None if scored.items[place] is None else scored.record(scored.items[place])
                for key, scored in one.scores.items()
                if scored.items and scored.record
            }
            found.append(
                {
                    "system": one.name,
                    "item": name,
                    "line": reply.line,
                    "turn": reply.known_turn,
                    "emotion": reply.emotion,
                    "reply": reply.reply,
                    **values,
                }
            )
    return found
