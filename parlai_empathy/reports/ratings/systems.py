"""People's ratings of systems: mean ratings as in EmpatheticDialogues' tables, and tests of differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from parlai_empathy.rating.analysis.answers import columns_of, named
from parlai_empathy.rating.analysis.differences import Difference, How, difference
from parlai_empathy.rating.analysis.means import SystemMean, system_mean
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.cells import NONE, Cell, PValue
from parlai_empathy.reports.plots import Interval, Intervals, Plot
from parlai_empathy.reports.table import Table
from parlai_empathy.signature import Number
from parlai_empathy.statistics.paired import holm

Groups = Mapping[str, Mapping[str, Sequence[Rating]]]
"""The ratings by question and system."""

_DRAWN = {"item": "items", "rater": "raters", "both": "items and raters, apart,"}


def by_question_and_system(scores: Sequence[Rating]) -> dict[str, dict[str, list[Rating]]]:
    """Group ratings of single replies by question, in order of first occurrence, and system, in order of name."""
    found: dict[str, dict[str, list[Rating]]] = {}
    for one in sorted(scores, key=lambda one: one.system):
        found.setdefault(one.question, {}).setdefault(one.system, []).append(one)
    return {question: found[question] for question in dict.fromkeys(one.question for one in scores)}


def means_tables(groups: Groups, how: How) -> tuple[list[Table], list[Plot]]:
    """Return a table with one row per system and one column per question (the layout of Rashkin et al. 2019, Tables 2
    and 8), and a table of the same means with intervals and counts.
    """
    found = {
        (question, system): system_mean(columns_of(ratings), how.clusters, how.resamples, how.seed)
        for question, systems in groups.items()
        for system, ratings in systems.items()
    }
    systems = sorted({system for _, system in found})
    rows = [[named(one, "system"), *(_short(found.get((q, one))) for q in groups)] for one in systems]
    short = Table(
        "Mean ratings and standard errors",
        ["system", *(named(question, "question") for question in groups)],
        rows,
        [
            "- mean of all ratings ± its standard error, which treats ratings as independent, as the papers do",
            *([f"- {NONE}: not asked of this system"] if any(NONE in row for row in rows) else []),
        ],
    )
    return [short, _long(found, how)], [_plot(groups, systems, found)]


def _short(found: SystemMean | None) -> str:
    if found is None:
        return NONE
    error = NONE if found.standard_error is None else f"{found.standard_error:.2f}"
    return f"{found.mean:.2f} ± {error}"


def _long(found: Mapping[tuple[str, str], SystemMean], how: How) -> Table:
    rows: list[list[Cell]] = [
        [
            named(question, "question"),
            named(system, "system"),
            one.ratings,
            one.items,
            one.raters,
            Number(one.mean, one.signature),
            NONE if one.standard_error is None else one.standard_error,
            one.interval or NONE,
        ]
        for (question, system), one in found.items()
    ]
    notes = [
        _interval_note(how),
        *(["- a single rating has no standard error"] if any(one.ratings == 1 for one in found.values()) else []),
        *(f"- {_of(question, system)}: {one.reason}" for (question, system), one in found.items() if one.reason),
        *dict.fromkeys(f"- {one.signature}" for one in found.values()),
    ]
    header = ["question", "system", "ratings", "items", "raters", "mean", "standard error", "95 % interval"]
    return Table("Mean ratings with intervals", header, rows, notes)


def _interval_note(how: How) -> str:
    return (
        f"- interval: {how.resamples:,} bootstrap samples of {_DRAWN[how.clusters]} with all their ratings; "
        "percentiles expanded for few, and of fewer than five still too narrow"
    )


def _of(question: str, *systems: str) -> str:
    return f"{named(question, 'question')}, {' and '.join(named(one, 'system') for one in systems)}"


def _plot(groups: Groups, systems: Sequence[str], found: Mapping[tuple[str, str], SystemMean]) -> Plot:
    series: dict[str, dict[str, Interval]] = {
        named(question, "question"): {
            named(system, "system"): (one.mean, *(one.interval or (one.mean, one.mean)))
            for (asked, system), one in found.items()
            if asked == question
        }
        for question in groups
    }
    rows = [named(system, "system") for system in systems]
    return Intervals("mean_ratings", "Mean ratings and 95 % intervals", "rating", "", rows, series, from_zero=False)


def differences_table(groups: Groups, how: How) -> tuple[Table, list[Plot]] | None:
    """Compare each pair of systems rated on the same question; None if there is no pair."""
    pairs = [(question, one, other) for question, systems in groups.items() for one, other in combinations(systems, 2)]
    if not pairs:
        return None
    how = replace(how, tests=len(pairs))
    found = {
        (question, one, other): difference(groups[question][one], groups[question][other], how)
        for question, one, other in pairs
    }
    tested = [key for key, one in found.items() if one.p_value is not None]
    corrected = dict(zip(tested, holm([found[key].p_value or 0.0 for key in tested]), strict=True))
    rows = [_row(key, one, corrected.get(key)) for key, one in found.items()]
    notes = [
        "- difference: of the means of items, the first system less the second",
        _interval_note(how),
        "- effect: rank-biserial correlation, -1 to 1: the share of ranks in favour of the first, less that in favour "
        "of the second; d: Cohen's, in pooled standard deviations of items' means",
        f"- p (Holm): corrected for the {len(tested)} tests of this table",
        *(f"- {_of(*key)}: {reason}" for key, one in found.items() for reason in one.reasons),
        *dict.fromkeys(f"- {one.signature}" for one in found.values()),
    ]
    header = [
        *("question", "system", "other", "test", "items"),
        *("difference", "95 % interval", "effect", "d", "p", "p (Holm)"),
    ]
    return Table("Differences between systems", header, rows, notes), _difference_plots(found)


def _row(key: tuple[str, str, str], one: Difference, corrected: float | None) -> list[Cell]:
    question, system, other = key
    return [
        named(question, "question"),
        named(system, "system"),
        named(other, "system"),
        one.test if one.p_value is not None else NONE,
        one.n,
        Number(one.value, one.signature),
        one.interval or NONE,
        NONE if one.effect is None else one.effect,
        NONE if one.d is None else one.d,
        NONE if one.p_value is None else PValue(one.p_value),
        NONE if corrected is None else PValue(corrected),
    ]


def _difference_plots(found: Mapping[tuple[str, str, str], Difference]) -> list[Plot]:
    series: dict[str, dict[str, Interval]] = {}
    for (question, one, other), apart in found.items():
        if apart.interval:
            row = f"{named(one, 'system')} - {named(other, 'system')}"
            series.setdefault(named(question, "question"), {})[row] = (apart.value, *apart.interval)
    if not series:
        return []
    rows = list(dict.fromkeys(row for values in series.values() for row in values))
    title = "Differences of mean ratings and 95 % intervals"
    return [Intervals("differences", title, "difference in points", "", rows, series)]
