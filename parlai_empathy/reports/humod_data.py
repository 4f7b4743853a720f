"""What is in HUMOD: turns, lengths, ratings and raters (the data figures of Merdivan et al. 2020, section 3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from parlai_empathy.reports.plots import Bars
from parlai_empathy.reports.report import Report, Table
from parlai_empathy.tasks.humod.reader import SCALE, Pair

_MOST_VALUES = 12  # a column with more different values than this is no group of people
_WIDTH = 5  # words in a step of the histogram of lengths
_LONGEST = 50

# Merdivan et al. 2020: so many of the 14,250 ratings of each kind.
PAPERS_SHARES = {"original: rated 4 or 5": 10_610 / 14_250, "random: rated 1 or 2": 10_404 / 14_250}


def data_report(pairs: Sequence[Pair], title: str) -> Report:
    """Tables and plots of a file."""
    parts = [_turns(pairs), _lengths(pairs), _ratings(pairs), *_people(pairs)]
    tables = [_size(pairs), *(table for table, _ in parts), _shares(pairs)]
    return Report(title, tables, [plot for _, plot in parts])


def _size(pairs: Sequence[Pair]) -> Table:
    rated = [pair for pair in pairs if pair.mean_rating is not None]
    return Table(
        "Size",
        ["what", "number"],
        [
            ("pairs of context and reply", len(pairs)),
            ("different contexts", len({pair.context for pair in pairs})),
            ("pairs with an original reply", sum(pair.is_original for pair in pairs)),
            ("pairs with a random reply", sum(not pair.is_original for pair in pairs)),
            ("human replies", sum(bool(text) for pair in pairs for text in pair.human_replies)),
            ("rated pairs", len(rated)),
            ("single ratings", sum(len(pair.ratings) for pair in pairs)),
        ],
    )


def _turns(pairs: Sequence[Pair]) -> tuple[Table, Bars]:
    """Of pairs with an original reply, because each context has another pair with a random one."""
    counts = Counter(len(pair.context) + 1 for pair in pairs if pair.is_original)
    numbers = sorted(counts)
    title = "Turns, the reply counted"
    table = Table(title, ["turns", "dialogues"], [(n, counts[n]) for n in numbers])
    return table, Bars(
        "turns", title, "turns", "dialogues", list(map(str, numbers)), {title: [counts[n] for n in numbers]}
    )


def _lengths(pairs: Sequence[Pair]) -> tuple[Table, Bars]:
    texts = {
        "original replies": [pair.reply for pair in pairs if pair.is_original],
        "human replies": [text for pair in pairs for text in pair.human_replies if text],
        "turns of contexts": [turn for context in {pair.context for pair in pairs} for turn in context],
    }
    lengths = {name: sorted(len(text.split()) for text in found) for name, found in texts.items() if found}
    rows = [
        (name, len(found), sum(found) / len(found), found[len(found) // 2], found[-1])
        for name, found in lengths.items()
    ]
    title = "Length in words"
    table = Table(title, ["texts", "number", "mean", "median", "longest"], rows)
    groups = [f"{start}-{start + _WIDTH - 1}" for start in range(1, _LONGEST, _WIDTH)] + [f"> {_LONGEST}"]
    series = {name: _histogram(found, len(groups)) for name, found in lengths.items()}
    return table, Bars("lengths", title, "words", "share of texts", groups, series)


def _histogram(lengths: Sequence[int], groups: int) -> list[float]:
    counts = Counter(min(max(length - 1, 0) // _WIDTH, groups - 1) for length in lengths)
    return [counts[group] / len(lengths) for group in range(groups)]


def _ratings(pairs: Sequence[Pair]) -> tuple[Table, Bars]:
    """Every single rating where the file has them, else the pairs' means, rounded."""
    series = {kind: _counts(pairs, is_original) for kind, is_original in (("original", True), ("random", False))}
    title = "Ratings of original and random replies"
    rows = [(kind, *counts, _mean(pairs, kind == "original")) for kind, counts in series.items()]
    table = Table(title, ["reply", *map(str, SCALE), "mean"], rows, [f"- counted: {_counted(pairs)}"])
    groups = list(map(str, SCALE))
    return table, Bars("ratings", title, "relevance", _counted(pairs), groups, series)


def _counts(pairs: Sequence[Pair], is_original: bool) -> list[int]:
    counts = Counter(rating for pair in pairs if pair.is_original == is_original for rating in _said(pair))
    return [counts[value] for value in SCALE]


def _said(pair: Pair) -> list[int]:
    if pair.ratings:
        return list(pair.ratings)
    return [] if pair.mean_rating is None else [math.floor(pair.mean_rating + 0.5)]


def _counted(pairs: Sequence[Pair]) -> str:
    return "single ratings" if any(pair.ratings for pair in pairs) else "pairs, by their rounded mean rating"


def _mean(pairs: Sequence[Pair], is_original: bool) -> float | None:
    means = [pair.mean_rating for pair in pairs if pair.is_original == is_original and pair.mean_rating is not None]
    return sum(means) / len(means) if means else None


def _shares(pairs: Sequence[Pair]) -> Table:
    original, random = _counts(pairs, True), _counts(pairs, False)
    shares = [
        sum(original[3:]) / sum(original) if sum(original) else None,
        sum(random[:2]) / sum(random) if sum(random) else None,
    ]
    rows = [(name, share, papers) for (name, papers), share in zip(PAPERS_SHARES.items(), shares, strict=True)]
    return Table("Beside the paper's figures", ["share of ratings", "here", "paper's"], rows)


def _people(pairs: Sequence[Pair]) -> list[tuple[Table, Bars]]:
    """One table for each further column that groups the raters."""
    answers = [(rater, rating) for pair in pairs for rater, rating in zip(pair.raters, pair.ratings, strict=True)]
    columns = dict.fromkeys(name for rater, _ in answers for name in rater)
    parts = []
    for column in columns:
        groups = sorted({rater.get(column, "") for rater, _ in answers})
        if 1 < len(groups) <= _MOST_VALUES:
            parts.append(_group(column, groups, [(rater.get(column, ""), rating) for rater, rating in answers]))
    return parts


def _group(column: str, groups: Sequence[str], answers: Sequence[tuple[str, int]]) -> tuple[Table, Bars]:
    counts = Counter(group for group, _ in answers)
    sums = Counter[str]()
    for group, rating in answers:
        sums[group] += rating
    title = f"Raters by {column}"
    rows = [(group or "(not told)", counts[group], sums[group] / counts[group]) for group in groups]
    file = "raters_by_" + "".join(letter if letter.isalnum() else "_" for letter in column)
    bars = Bars(file, title, column, "ratings", list(groups), {title: [counts[group] for group in groups]})
    return Table(title, [column, "ratings", "mean rating"], rows), bars
