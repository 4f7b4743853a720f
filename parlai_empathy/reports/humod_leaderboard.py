"""How well judges' scores follow people's ratings of HUMOD replies (Merdivan et al. 2020, Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import parlai.utils.logging as logging
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.metrics.correlation import KINDS, Correlation, correlation
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.report import Cell, Report, Table, p_value
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.tasks.humod.exchanges import Exchange, exchanges
from parlai_empathy.tasks.humod.reader import Pair

REFERENCES = ("human", "original", "all")

PAPERS_BEST = 0.602
"""Pearson's correlation of the paper's best learned scorer, on its 1,000 test pairs (Table 3)."""

ORACLE = "original or random (known, not judged)"
_SHORT = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}


def rated_pairs(pairs: Sequence[Pair], references: str) -> list[tuple[Pair, list[str]]]:
    """The rated pairs, each with the texts that word overlap is counted with.

    :param references: ``human``: what the raters of the context's pairs would have said. ``original``: the film's own
        reply, which an original reply is the same as. ``all``: both.
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
        raise NotComputableError("no pair of this fold is rated: take --humod-split rated, or another file")
    return rated


def _references(exchange: Exchange, which: str) -> list[str]:
    original = [exchange.original.reply] if exchange.original and which != "human" else []
    return original + (exchange.human_replies if which != "original" else [])


def leaderboard(judges: Sequence[Judge], pairs: Sequence[Pair], references: str, resamples: int, about: str) -> Report:
    """Score all rated pairs with all judges, and correlate.

    :param pairs: of one fold.
    :param references: see :func:`rated_pairs`.
    :param resamples: for the intervals.
    :param about: which data these are, for the title.
    :raises NotComputableError: if no pair is rated, or there are too few to correlate.
    """
    rated = rated_pairs(pairs, references)
    ratings = [pair.mean_rating or 0.0 for pair, _ in rated]
    scores = {judge.name: _scores(judge, rated) for judge in judges}
    signatures = {judge.name: judge.signature for judge in judges}
    scores[ORACLE] = np.array([float(pair.is_original) for pair, _ in rated])
    correlations = {
        name: {kind: correlation(kind, list(values), ratings, resamples) for kind in KINDS}
        for name, values in scores.items()
    }
    turns = [len(pair.context) + 1 for pair, _ in rated]
    return Report(
        title=f"HUMOD: relevance judged by people, and by judges ({about})",
        tables=[
            _overall(correlations, signatures, references),
            _by_turns(scores, ratings, turns, resamples),
        ],
        plots=[_plot(correlations)],
        items=[
            {"pair_id": pair.pair_id, "turns": n, "is_original": pair.is_original, "rating_mean": pair.mean_rating}
            | {"scores": {name: float(values[place]) for name, values in scores.items()}}
            for place, ((pair, _), n) in enumerate(zip(rated, turns, strict=True))
        ],
    )


def _scores(judge: Judge, rated: Sequence[tuple[Pair, list[str]]]) -> NDArray[np.float64]:
    logging.info(f"{judge.name}: scoring {len(rated):,} replies")
    contexts, replies = [pair.context for pair, _ in rated], [pair.reply for pair, _ in rated]
    return judge.score(contexts, replies, [texts for _, texts in rated])


def _overall(
    correlations: Mapping[str, Mapping[str, Correlation]], signatures: Mapping[str, str], references: str
) -> Table:
    rows: list[Sequence[Cell]] = []
    for name, kinds in correlations.items():
        cells: list[Cell] = [name]
        for kind in KINDS:
            found = kinds[kind]
            cells += [found.value, f"{found.low:.3f} to {found.high:.3f}", p_value(found.p_value)]
        rows.append(cells)
    rows.append(["paper's best learned scorer", PAPERS_BEST, *[None] * 8])
    any_of_them = next(iter(correlations.values()))
    return Table(
        title="Correlation with the mean rating (Table 3)",
        header=["judge", *(text for kind in KINDS for text in (_SHORT[kind], "95 % interval", "p"))],
        rows=rows,
        notes=[
            *(f"- {text}" for text in signatures.values()),
            *(f"- {any_of_them[kind].signature}" for kind in KINDS),
            f"- references of word overlap: {references}",
        ],
    )


def _by_turns(
    scores: Mapping[str, NDArray[np.float64]], ratings: Sequence[float], turns: Sequence[int], resamples: int
) -> Table:
    """Pearson's correlation among the pairs with as many turns, the reply counted."""
    different = sorted(set(turns))
    places = {n: [place for place, number in enumerate(turns) if number == n] for n in different}
    rows = []
    for name, values in scores.items():
        cells: list[Cell] = [name]
        for n in different:
            cells.append(_value([values[p] for p in places[n]], [ratings[p] for p in places[n]], resamples))
        rows.append(cells)
    return Table(
        title="Pearson's correlation by number of turns, the reply counted (Table 4)",
        header=["judge", *(f"{n} (n = {len(places[n])})" for n in different)],
        rows=rows,
    )


def _value(scores: Sequence[float], ratings: Sequence[float], resamples: int) -> Cell:
    """The correlation with its interval, or why there is none."""
    try:
        found = correlation("pearson", scores, ratings, resamples)
    except NotComputableError:
        return "not computable"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _plot(correlations: Mapping[str, Mapping[str, Correlation]]) -> Intervals:
    return Intervals(
        name="correlations",
        title="Correlation with people's mean rating, 95 % intervals",
        x="correlation",
        y="",
        rows=list(correlations),
        series={
            _SHORT[kind]: {
                name: (kinds[kind].value, kinds[kind].low, kinds[kind].high) for name, kinds in correlations.items()
            }
            for kind in KINDS
        },
    )
