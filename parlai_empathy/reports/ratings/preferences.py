"""People's preferences between two systems: wins, ties and losses, and Bradley-Terry strengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.answers import named
from parlai_empathy.rating.analysis.preferences import Strengths, Tally, strengths, tallies
from parlai_empathy.rating.rating import Rating, Unit
from parlai_empathy.reports.cells import NONE, Cell, PValue, p_value
from parlai_empathy.reports.plots import Interval, Intervals, Plot, RowBars
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number, signature
from parlai_empathy.statistics.paired import holm
from parlai_empathy.statistics.win_rates import WinRate, win_rate

Key = tuple[str, str, str]


def by_question(preferences: Sequence[Rating]) -> dict[str, list[Rating]]:
    """Group comparisons by question, in order of first occurrence."""
    found: dict[str, list[Rating]] = {}
    for one in preferences:
        found.setdefault(one.question, []).append(one)
    return found


def wins_table(groups: Mapping[str, Sequence[Rating]], unit: str) -> tuple[Table, list[Plot]]:
    """Return the shares of wins, ties and losses of each pair of systems, with an exact sign test.

    :param groups: comparisons by question, at least one.
    :param unit: the unit of the test: see :func:`parlai_empathy.rating.analysis.preferences.tallies`.
    """
    said: dict[Key, Tally] = {(q, *pair): one for q, group in groups.items() for pair, one in tallies(group).items()}
    counted = {(q, *pair): one for q, group in groups.items() for pair, one in tallies(group, unit).items()}
    found: dict[Key, WinRate] = {}
    notes = []
    for key, tally in counted.items():
        try:
            found[key] = win_rate(*tally)
        except NotComputableError as error:
            notes.append(f"- {named(key[0], 'question')}, {named(key[1], 'system')} and {key[2]}: {error}")
    corrected = dict(zip(found, holm([one.p_value for one in found.values()]), strict=True))
    made = signature("win rate", test="sign, exact, two-sided", ties="left out", unit=unit, interval="95% exact")
    rows: list[list[Cell]] = []
    for key, (wins, ties, losses) in said.items():
        question, system, other = key
        n, one = wins + ties + losses, found.get(key)
        shares: list[Cell] = [wins / n, ties / n, losses / n]
        tested: list[Cell] = [NONE] * 4
        if one:
            tested = [Number(one.share, made), (one.low, one.high), PValue(one.p_value), PValue(corrected[key])]
        units = " / ".join(map(str, counted[key]))
        rows.append([named(question, "question"), named(system, "system"), other, n, *shares, units, *tested])
    header = [
        *("question", "system", "other", "ratings", "win", "tie", "lose", f"{unit}s: win / tie / lose"),
        *("share of decided", "95 % interval", "p", "p (Holm)"),
    ]
    notes += [
        *_sides([one for group in groups.values() for one in group]),
        "- win, tie, lose: shares of all ratings",
        f"- tested: {_TESTED[unit]}; ties are left out of the test, which lowers its power",
        f"- p (Holm): corrected for the {len(found)} tests of this table",
        f"- {made}",
    ]
    return Table("Win, tie, lose", header, rows, notes), [_bars(said)]


def _sides(preferences: Sequence[Rating]) -> list[str]:
    """Return a note on how often the left reply was preferred, whichever system it came from.

    Several questions of a page count once, by their majority.
    """
    pages: Counter[tuple[str, Unit]] = Counter()
    for one in preferences:
        if one.side:
            pages[one.rater, one.unit] += round((one.rating or 0.0) * (1 if one.side == "left" else -1))
    left = list(pages.values())
    try:
        found = win_rate(sum(one > 0 for one in left), sum(one == 0 for one in left), sum(one < 0 for one in left))
    except NotComputableError:
        return []
    return [
        f"- sides: the left one was preferred in {found.wins:,} of {found.wins + found.losses:,} decided pages "
        f"(exact test of one half: p {_p(found.p_value)})"
    ]


def _p(value: float) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


_TESTED = {
    "item": "every item once, by the majority of its raters (as many for one side as for the other: a tie)",
    "rating": "every rating as if it were independent; where items have several raters, p-values come out too small",
}


def _bars(said: Mapping[Key, Tally]) -> Plot:
    """Return a plot of the shares; rows name the question if there are several."""
    several = len({question for question, _, _ in said}) > 1
    rows = {
        key: f"{named(key[1], 'system')} : {key[2]}" + (f" ({named(key[0], 'question')})" if several else "")
        for key in said
    }
    series = {
        name: {rows[key]: tally[place] / sum(tally) for key, tally in said.items()}
        for place, name in enumerate(("the first wins", "tie", "the second wins"))
    }
    return RowBars("win_tie_lose", "Win, tie, lose", "share of ratings", "", list(rows.values()), series)


def strengths_table(
    groups: Mapping[str, Sequence[Rating]], clusters: str, resamples: int, seed: int
) -> tuple[Table, list[Plot]]:
    """Return the Bradley-Terry strengths of all compared systems.

    :param groups: comparisons by question, at least one.
    """
    found: dict[str, Strengths] = {}
    rows: list[list[Cell]] = []
    notes = []
    for question, group in groups.items():
        name = named(question, "question")
        try:
            one = found[name] = strengths(group, clusters, resamples, seed)
        except NotComputableError as error:
            notes.append(f"- {name}: {error}")
            rows += [[name, named(system, "system"), *[NONE] * 3] for system in _systems(group)]
            continue
        notes += [f"- {name}: {one.reason}"] if one.reason else []
        rows += [
            [name, named(system, "system"), Number(value, one.signature), interval or NONE, 1 / (1 + exp(-value))]
            for system, (value, interval) in one.values.items()
        ]
    notes += [
        "- strength: log-odds of being preferred to a system of mean strength; wins: the chance that belongs to it",
        "- a tie counts as half a win for each side; resamples in which a strength would be infinite are left out of "
        "the intervals",
        *dict.fromkeys(f"- {one.signature}" for one in found.values()),
    ]
    header = ["question", "system", "strength", "95 % interval", "wins against the mean"]
    return Table("Strengths (Bradley and Terry)", header, rows, notes), _strength_plots(found)


def _systems(group: Sequence[Rating]) -> list[str]:
    return sorted({name for one in group for name in (one.system, one.other)})


def _strength_plots(found: Mapping[str, Strengths]) -> list[Plot]:
    series: dict[str, dict[str, Interval]] = {
        question: {
            named(system, "system"): (value, *(interval or (value, value)))
            for system, (value, interval) in one.values.items()
        }
        for question, one in found.items()
    }
    if not series:
        return []
    rows = list(dict.fromkeys(system for values in series.values() for system in values))
    title = "Strengths (Bradley and Terry) and 95 % intervals"
    return [Intervals("strengths", title, "log-odds", "", rows, series)]
