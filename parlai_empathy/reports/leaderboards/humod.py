"""Correlation of judges' scores with people's ratings of HUMOD replies (Merdivan et al. 2020, Tables 3 and 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import parlai.utils.logging as logging
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.reports.cells import NO_INTERVAL, NOT_COMPUTABLE, Cell, PValue
from parlai_empathy.reports.leaderboards.names import REFERENCES
from parlai_empathy.reports.plots import Interval, Intervals
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.statistics.correlation import KINDS, Correlation, correlation
from parlai_empathy.tasks.humod.exchanges import Exchange, exchanges
from parlai_empathy.tasks.humod.records import Pair

PAPERS_BEST = 0.602
"""Pearson's correlation of the paper's best learned scorer, on its 1,000 test pairs (Table 3)."""

ORACLE = "original or random (known, not judged)"
PAPERS_JUDGE = "paper's best learned scorer"
ROWS = (ORACLE, PAPERS_JUDGE)
"""The rows of the first table that are not judges."""

_SHORT = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
_HEADER = [text for kind in KINDS for text in (_SHORT[kind], "95 % interval", "p")]

Found = Mapping[str, Correlation | NotComputableError]
"""The correlation of each kind, or why it cannot be computed."""


def rated_pairs(pairs: Sequence[Pair], references: str) -> list[tuple[Pair, list[str]]]:
    """Return the rated pairs, each with its references for word overlap; a pair may have none.

    :param references: ``human``: the replies that raters wrote to the context. ``original``: the film's own reply,
        which is identical to an original reply. ``all``: both.
    :raises OptionError: for other references.
    :raises NotComputableError: if no pair is rated.
    """
    if references not in REFERENCES:
        raise OptionError(f"--references {references}: must be one of {', '.join(REFERENCES)}")
    found = {}
    for exchange in exchanges(pairs):
        for pair in (exchange.original, exchange.random):
            if pair and pair.mean_rating is not None:
                found[pair] = _references(exchange, references)
    rated = [(pair, found[pair]) for pair in pairs if pair in found]
    if not rated:
        raise NotComputableError("no pair of this fold is rated: use --humod-split rated, or another file")
    return rated


def _references(exchange: Exchange, which: str) -> list[str]:
    original = [exchange.original.reply] if exchange.original and which != "human" else []
    return original + (exchange.human_replies if which != "original" else [])


def leaderboard(
    judges: Sequence[Judge],
    pairs: Sequence[Pair],
    references: str,
    resamples: int,
    seed: int,
    about: str,
    left_out: Sequence[str] = (),
) -> Report:
    """Score all rated pairs with all judges, and correlate the scores with the mean ratings.

    A rated pair without a reference is excluded for all judges, so that their numbers are based on the same pairs.

    :param judges: with distinct names, none of them in :data:`ROWS`.
    :param pairs: those of one fold.
    :param references: see :func:`rated_pairs`.
    :param resamples: the number of bootstrap samples for the intervals.
    :param seed: the seed of the bootstrap samples.
    :param about: a description of the data, for the title.
    :param left_out: what the report lacks although readers may expect it, for notes.
    :raises NotComputableError: if no rated pair has a reference, or no correlation can be computed.
    """
    rated, without = _with_references(rated_pairs(pairs, references), references)
    left_out = [*left_out, *without]
    for what in left_out:
        logging.warning(f"left out: {what}")
    ratings = [pair.mean_rating or 0.0 for pair, _ in rated]
    scores = {judge.name: _scores(judge, rated) for judge in judges}
    scores[ORACLE] = np.array([float(pair.is_original) for pair, _ in rated])
    found = {name: _correlate(values, ratings, resamples, seed) for name, values in scores.items()}
    notes = [
        *(f"- {judge.signature}" for judge in judges),
        *_notes(found),
        f"- references of word overlap: {references}",
        *(f"- left out: {what}" for what in left_out),
    ]
    turns = [_turns(pair) for pair, _ in rated]
    by_turns, their_plot = _by_turns(scores, ratings, turns, resamples, seed)
    return Report(
        title=f"HUMOD: relevance judged by people, and by judges ({about})",
        tables=[_overall(found, notes), by_turns],
        plots=[_plot(found), their_plot],
        items=[_item(place, pair, scores) for place, (pair, _) in enumerate(rated)],
    )


def _with_references(
    rated: list[tuple[Pair, list[str]]], references: str
) -> tuple[list[tuple[Pair, list[str]]], list[str]]:
    """Return the rated pairs with a reference, and a note on the others."""
    kept = [(pair, texts) for pair, texts in rated if texts]
    if not kept:
        raise NotComputableError(f"no rated pair has a reference of --references {references}: choose other references")
    lacking = len(rated) - len(kept)
    return kept, [f"{lacking:,} rated pair(s) without a reference of --references {references}"] if lacking else []


def _turns(pair: Pair) -> int:
    """Return the number of turns, including the reply."""
    return len(pair.context) + 1


def _item(place: int, pair: Pair, scores: Mapping[str, NDArray[np.float64]]) -> dict[str, Any]:
    """Return a pair's record; a score that is not finite becomes None, since JSON cannot represent it."""
    numbers = {name: float(values[place]) for name, values in scores.items()}
    return {
        "pair_id": pair.pair_id,
        "turns": _turns(pair),
        "is_original": pair.is_original,
        "rating_mean": pair.mean_rating,
        "scores": {name: number if math.isfinite(number) else None for name, number in numbers.items()},
    }


def _scores(judge: Judge, rated: Sequence[tuple[Pair, list[str]]]) -> NDArray[np.float64]:
    logging.info(f"{judge.name}: scoring {len(rated):,} replies")
    contexts, replies = [pair.context for pair, _ in rated], [pair.reply for pair, _ in rated]
    return judge.score(contexts, replies, [texts for _, texts in rated])


def _correlate(scores: NDArray[np.float64], ratings: Sequence[float], resamples: int, seed: int) -> Found:
    found: dict[str, Correlation | NotComputableError] = {}
    for kind in KINDS:
        try:
            found[kind] = correlation(kind, list(scores), ratings, resamples, seed)
        except NotComputableError as error:
            found[kind] = error
    return found


def _notes(found: Mapping[str, Found]) -> list[str]:
    """Return the signatures of the correlations, and why others are missing; raise an error if all are missing."""
    signatures: dict[str, None] = {}
    reasons: dict[str, None] = {}
    for name, kinds in found.items():
        for one in kinds.values():
            if isinstance(one, Correlation):
                signatures[f"- {one.signature}"] = None
                reasons |= {NO_INTERVAL: None} if one.interval is None else {}
            else:
                reasons[f"- {name}: {one}"] = None
    if not signatures:
        raise next(error for kinds in found.values() for error in kinds.values() if isinstance(error, Exception))
    return [*signatures, *reasons]


def _overall(found: Mapping[str, Found], notes: Sequence[str]) -> Table:
    rows: list[list[Cell]] = [[name, *_cells(kinds)] for name, kinds in found.items()]
    rows.append([PAPERS_JUDGE, PAPERS_BEST, *[None] * (len(_HEADER) - 1)])
    on_what = "- the paper's figure is of its own 1,000 test pairs; which these were is not published"
    return Table("Correlation with the mean rating (Table 3)", ["judge", *_HEADER], rows, [*notes, on_what])


def _cells(kinds: Found) -> list[Cell]:
    """Return one cell for each column of :data:`_HEADER`."""
    cells: list[Cell] = []
    for kind in KINDS:
        one = kinds[kind]
        if isinstance(one, Correlation):
            cells += [one.value, one.interval, PValue(one.p_value)]
        else:
            cells += [NOT_COMPUTABLE, None, None]
    return cells


def _by_turns(
    scores: Mapping[str, NDArray[np.float64]],
    ratings: Sequence[float],
    turns: Sequence[int],
    resamples: int,
    seed: int,
) -> tuple[Table, Intervals]:
    """Return the correlations by number of turns, including the reply."""
    rows: list[list[Cell]] = []
    names: list[str] = []
    reasons: dict[str, None] = {}
    pearson: dict[str, dict[str, Interval]] = {judge: {} for judge in scores}
    for number in sorted(set(turns)):
        places = [place for place, n in enumerate(turns) if n == number]
        names.append(f"{number} turns (n = {len(places):,})")
        for judge, values in scores.items():
            found = _correlate(values[places], [ratings[place] for place in places], resamples, seed)
            rows.append([number, len(places), judge, *_cells(found)])
            for one in found.values():
                if isinstance(one, Exception):
                    reasons[f"- {judge}, {number} turns: {one}"] = None
                elif one.interval is None:
                    reasons[NO_INTERVAL] = None
            pearson[judge].update(_interval(names[-1], found["pearson"]))
    title = "by number of turns, the reply counted"
    table = Table(f"Correlation {title} (Table 4)", ["turns", "n", "judge", *_HEADER], rows, list(reasons))
    return table, Intervals(
        "correlations_by_turns", f"Pearson's correlation {title}, 95 % intervals", "correlation", "", names, pearson
    )


def _plot(found: Mapping[str, Found]) -> Intervals:
    series: dict[str, dict[str, Interval]] = {_SHORT[kind]: {} for kind in KINDS}
    for name, kinds in found.items():
        for kind, one in kinds.items():
            series[_SHORT[kind]].update(_interval(name, one))
    title = "Correlation with people's mean rating, 95 % intervals"
    return Intervals("correlations", title, "correlation", "", list(found), series)


def _interval(row: str, found: Correlation | NotComputableError) -> dict[str, Interval]:
    """Return the row's interval for a plot; empty if there is no correlation."""
    return {row: found.span} if isinstance(found, Correlation) else {}
