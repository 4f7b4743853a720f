"""Statistics of HUMOD: turns, lengths, ratings and raters (the data figures of Merdivan et al. 2020, section 3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median

from parlai_empathy.reports.plots import Bars
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.tasks.humod.exchanges import exchanges
from parlai_empathy.tasks.humod.records import SCALE, Pair

_MOST_VALUES = 12  # a column with more distinct values does not group raters
_WIDTH = 5  # bin width of the histogram of lengths, in words
_LONGEST = 50
_RATER = ("worker id", "user id", "rater id")  # columns that may identify the rater

# Merdivan et al. 2020: shares of the 14,250 ratings of each kind.
PAPERS_SHARES = {"original: rated 4 or 5": 10_610 / 14_250, "random: rated 1 or 2": 10_404 / 14_250}


def data_report(pairs: Sequence[Pair], title: str) -> Report:
    """Return tables and plots of a file.

    :param pairs: at least one.
    """
    parts = [_turns(pairs), _lengths(pairs), _ratings(pairs), *_people(pairs)]
    tables = [_size(pairs), *(table for table, _ in parts), _shares(pairs)]
    return Report(title, tables, [plot for _, plot in parts])


def _size(pairs: Sequence[Pair]) -> Table:
    wide = [column for column in _columns(pairs) if not _is_grouping(_values(pairs, column))]
    return Table(
        "Size",
        ["what", "number"],
        [
            ("pairs of context and reply", len(pairs)),
            ("different contexts", len({pair.context for pair in pairs})),
            ("pairs with an original reply", sum(pair.is_original for pair in pairs)),
            ("pairs with a random reply", sum(not pair.is_original for pair in pairs)),
            ("human replies", sum(bool(text) for pair in pairs for text in pair.human_replies)),
            ("rated pairs", sum(pair.mean_rating is not None for pair in pairs)),
            ("single ratings", sum(len(pair.ratings) for pair in pairs)),
        ],
        [f"- columns without groups of raters to show: {', '.join(wide)}"] if wide else [],
    )


def _turns(pairs: Sequence[Pair]) -> tuple[Table, Bars]:
    """Count turns per dialogue; a context with its original and its random reply is one dialogue."""
    counts = Counter(len(exchange.context) + 1 for exchange in exchanges(pairs))
    numbers = sorted(counts)
    title = "Turns, the reply counted"
    table = Table(title, ["turns", "dialogues"], [(n, counts[n]) for n in numbers])
    series = {title: [counts[n] for n in numbers]}
    return table, Bars("turns", title, "turns", "dialogues", list(map(str, numbers)), series)


def _lengths(pairs: Sequence[Pair]) -> tuple[Table, Bars]:
    """Count words per text; each distinct context is counted once."""
    texts = {
        "original replies": [pair.reply for pair in pairs if pair.is_original],
        "human replies": [text for pair in pairs for text in pair.human_replies if text],
        "turns of contexts": [turn for context in {pair.context for pair in pairs} for turn in context if turn],
    }
    lengths = {name: [len(text.split()) for text in found] for name, found in texts.items() if found}
    rows = [(name, len(found), fmean(found), float(median(found)), max(found)) for name, found in lengths.items()]
    title = "Length in words"
    table = Table(title, ["texts", "number", "mean", "median", "longest"], rows)
    groups = [f"{start}-{start + _WIDTH - 1}" for start in range(1, _LONGEST, _WIDTH)] + [f"> {_LONGEST}"]
    series = {name: _histogram(found, len(groups)) for name, found in lengths.items()}
    return table, Bars("lengths", title, "words", "share of texts", groups, series)


def _histogram(lengths: Sequence[int], groups: int) -> list[float]:
    counts = Counter(min(max(length - 1, 0) // _WIDTH, groups - 1) for length in lengths)
    return [counts[group] / len(lengths) for group in range(groups)]


def _ratings(pairs: Sequence[Pair]) -> tuple[Table, Bars]:
    """Count single ratings where the file has them, else the pairs' rounded means."""
    series = {kind: _counts(pairs, is_original) for kind, is_original in (("original", True), ("random", False))}
    title = "Ratings of original and random replies"
    rows = [(kind, *counts, _mean(pairs, kind == "original")) for kind, counts in series.items()]
    table = Table(title, ["reply", *map(str, SCALE), "mean of the pairs"], rows, [f"- counted: {_counted(pairs)}"])
    return table, Bars("ratings", title, "relevance", _counted(pairs), list(map(str, SCALE)), series)


def _counts(pairs: Sequence[Pair], is_original: bool) -> list[int]:
    counts = Counter(rating for pair in pairs if pair.is_original == is_original for rating in _said(pair))
    return [counts[value] for value in SCALE]


def _said(pair: Pair) -> list[int]:
    if pair.ratings:
        return list(pair.ratings)
    return [] if pair.mean_rating is None else [math.floor(pair.mean_rating + 0.5)]


def _counted(pairs: Sequence[Pair]) -> str:
    singles = sum(bool(pair.ratings) for pair in pairs)
    means = sum(pair.mean_rating is not None for pair in pairs) - singles
    if not means:
        return "single ratings"
    return "rounded mean ratings" if not singles else f"single ratings, and {means:,} rounded mean ratings"


def _mean(pairs: Sequence[Pair], is_original: bool) -> float | None:
    means = [pair.mean_rating for pair in pairs if pair.is_original == is_original and pair.mean_rating is not None]
    return fmean(means) if means else None


def _shares(pairs: Sequence[Pair]) -> Table:
    original, random = _counts(pairs, True), _counts(pairs, False)
    shares = [
        sum(original[3:]) / sum(original) if any(original) else None,
        sum(random[:2]) / sum(random) if any(random) else None,
    ]
    rows = [(name, share, papers) for (name, papers), share in zip(PAPERS_SHARES.items(), shares, strict=True)]
    notes = [f"- counted: {_counted(pairs)}; the paper counts single ratings"]
    return Table("Beside the paper's figures", ["share of ratings", "here", "paper's"], rows, notes)


# --- raters ----------------------------------------------------------------------------------------------------------


def _people(pairs: Sequence[Pair]) -> list[tuple[Table, Bars]]:
    """Return a table and a plot for each extra column that groups raters."""
    columns = {column: _values(pairs, column) for column in _columns(pairs)}
    raters = next((columns[name] for name in _RATER if name in columns), None)
    ratings = [rating for pair in pairs if pair.raters for rating in pair.ratings]
    return [_group(column, values, ratings, raters) for column, values in columns.items() if _is_grouping(values)]


def _columns(pairs: Sequence[Pair]) -> list[str]:
    return list(dict.fromkeys(name for pair in pairs for rater in pair.raters for name in rater))


def _values(pairs: Sequence[Pair], column: str) -> list[str]:
    """Return the column's value for each single rating whose rater has extra columns."""
    return [rater.get(column, "") or "(not told)" for pair in pairs for rater in pair.raters]


def _is_grouping(values: Sequence[str]) -> bool:
    return 1 < len(set(values)) <= _MOST_VALUES


def _group(
    column: str, values: Sequence[str], ratings: Sequence[int], raters: Sequence[str] | None
) -> tuple[Table, Bars]:
    """Return the ratings grouped by the column's value, with the number of raters in each group if known."""
    groups = sorted(set(values))
    given = {group: [r for value, r in zip(values, ratings, strict=True) if value == group] for group in groups}
    rows: list[list[str | int | float]] = [[group, len(given[group]), fmean(given[group])] for group in groups]
    header = [column, "ratings", "mean rating"]
    if raters and raters is not values:
        header.append("raters")
        for row in rows:
            row.append(len({rater for rater, value in zip(raters, values, strict=True) if value == row[0]}))
    title = f"Ratings by the raters' {column}"
    bars = Bars(
        f"ratings_by_{column}", title, column, "ratings", groups, {title: [len(given[group]) for group in groups]}
    )
    return Table(title, header, rows), bars
