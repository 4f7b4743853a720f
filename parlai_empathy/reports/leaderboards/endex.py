"""Correlation of judges' scores with people's ratings of engagingness (Xu et al. 2022, Table 2, Figure 2)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.errors import NotComputableError
from parlai_empathy.reports.cells import NOT_COMPUTABLE, Cell
from parlai_empathy.reports.leaderboards.endex_figures import FIGURES, TITLES
from parlai_empathy.reports.plots import Intervals, Plot, RowBars
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scoring.judge import Judge
from parlai_empathy.signature import Number, signature
from parlai_empathy.statistics.correlation import coefficient
from parlai_empathy.statistics.correlation_of_runs import RunsCorrelation, correlation_of_runs
from parlai_empathy.tasks.engagement.records import RatedReply

KINDS = {"pearson": "Pearson", "spearman": "Spearman"}
"""The paper's two correlations, with their titles in tables."""

AGGREGATE = "RED's aggregate"
"""The training labels of a judge of RED's own labels; the dimensions that they combine were chosen in curation."""

PAPERS_JUDGES = {name: f"{name} (Xu et al. 2022)" for name in FIGURES}
"""The rows of the paper's figures in the first table, by their keys in :data:`FIGURES`."""

Sets = Mapping[str, Sequence[RatedReply]]
"""The replies of the available test sets, by name."""


@dataclass(frozen=True)
class JudgeScores:
    """The scores of a judge, or of several training runs of it, on all sets.

    :param runs: for each run, the scores by set, in the order of the set's replies.
    :param signatures: those of the runs.
    :param learnt: the dimension of RED that it was trained on, or :data:`AGGREGATE`; None if not trained on RED.
    """

    name: str
    runs: Sequence[Mapping[str, Sequence[float]]]
    signatures: Sequence[str]
    learnt: str | None = None


@dataclass(frozen=True)
class _Found:
    """A judge's correlations with the ratings of one set.

    :param kinds: the correlations by kind; a kind is missing if it cannot be computed.
    :param reasons: why a correlation is missing, for all runs or for some.
    """

    kinds: Mapping[str, RunsCorrelation]
    reasons: Sequence[str] = field(default=())


_All = Mapping[str, Mapping[str, _Found]]
"""The correlations by judge and set."""


def judge_scores(name: str, judges: Iterable[Judge], sets: Sets, learnt: str | None = None) -> JudgeScores:
    """Score all sets with each training run of a judge, one after another, so that only one has to be in memory.

    :param judges: the runs, at least one.
    """
    runs, signatures = [], []
    for judge in judges:
        logging.info(f"{judge.name}: scoring {sum(map(len, sets.values())):,} replies of {len(sets)} sets")
        runs.append({name: _scores(judge, replies) for name, replies in sets.items()})
        signatures.append(judge.signature)
    return JudgeScores(name, runs, signatures, learnt)


def _scores(judge: Judge, replies: Sequence[RatedReply]) -> list[float]:
    scores: list[float] = judge.score([one.context for one in replies], [one.reply for one in replies]).tolist()
    return scores


def leaderboard(
    judges: Sequence[JudgeScores],
    sets: Sets,
    resamples: int,
    seed: int,
    about: str = "",
    left_out: Sequence[str] = (),
) -> Report:
    """Correlate all scores with people's mean ratings, set by set.

    :param judges: with distinct names.
    :param sets: at least one, each with at least one reply.
    :param resamples: the number of bootstrap samples for the intervals.
    :param seed: the seed of the bootstrap samples.
    :param about: a description of the data, for the title.
    :param left_out: what the report lacks although readers may expect it, for notes.
    :raises NotComputableError: if no correlation can be computed.
    """
    found = {
        judge.name: {name: _correlations(judge, name, sets[name], resamples, seed) for name in sets} for judge in judges
    }
    _check_any(found)
    tables = [_overall(judges, found, resamples, seed, left_out), _intervals(found, sets)]
    if several := [judge for judge in judges if len(judge.runs) > 1]:
        tables.append(_runs(several, found))
    plots: list[Plot] = [_interval_plot(kind, found) for kind in KINDS]
    learners = [judge for judge in judges if judge.learnt]
    if any(judge.learnt != AGGREGATE for judge in learners):
        tables.append(_ablation(learners, found))
        plots += [_ablation_plot(kind, learners, found) for kind in KINDS]
    title = "Engagingness judged by people, and by judges" + (f" ({about})" if about else "")
    return Report(title, tables, plots, [item for name in sets for item in _items(name, sets[name], judges)])


def _correlations(judge: JudgeScores, name: str, replies: Sequence[RatedReply], resamples: int, seed: int) -> _Found:
    """Return both correlations, over the runs for which they can be computed."""
    people = [one.human for one in replies]
    kinds: dict[str, RunsCorrelation] = {}
    reasons: dict[str, None] = {}
    for kind in KINDS:
        usable = []
        for run, scores in zip(_run_names(judge), judge.runs, strict=True):
            try:
                coefficient(kind, scores[name], people)
                usable.append(scores[name])
            except NotComputableError as error:
                reasons[f"{run}, {TITLES[name]}: {error}"] = None
        try:
            kinds[kind] = correlation_of_runs(kind, usable, people, resamples, seed, about=name)
        except NotComputableError as error:
            if usable:  # a value exists, but no interval
                reasons[f"{judge.name}, {TITLES[name]}: {error}"] = None
    return _Found(kinds, list(reasons))


def _run_names(judge: JudgeScores) -> list[str]:
    """Return the names of the runs: the judge's name, with a number if there are several."""
    return [judge.name] if len(judge.runs) == 1 else [f"{judge.name} #{n}" for n in range(1, len(judge.runs) + 1)]


def _check_any(found: _All) -> None:
    all_found = [one for of_sets in found.values() for one in of_sets.values()]
    if not any(one.kinds for one in all_found):
        raise NotComputableError(
            f"nothing can be correlated: {next(text for one in all_found for text in one.reasons)}"
        )


def _mean(one: RunsCorrelation | None) -> Cell:
    return Number(one.mean, one.signature) if one else NOT_COMPUTABLE


def _of_sets(found: Mapping[str, _Found]) -> list[Cell]:
    """Return the cells of the mean Pearson and Spearman correlations of each set in turn."""
    return [_mean(one.kinds.get(kind)) for one in found.values() for kind in KINDS]


def _header(found: _All) -> list[str]:
    sets = next(iter(found.values()))
    return [f"{TITLES[name]} {title}" for name in sets for title in KINDS.values()]


def _overall(judges: Sequence[JudgeScores], found: _All, resamples: int, seed: int, left_out: Sequence[str]) -> Table:
    """Return Table 2: one row per judge, then the paper's. Shared parts of the signatures are in the notes."""
    rows: list[list[Cell]] = [[judge.name, len(judge.runs), *_of_sets(found[judge.name])] for judge in judges]
    sets = list(next(iter(found.values())))
    for name, figures in FIGURES.items():
        if any(one in figures for one in sets):
            rows.append([PAPERS_JUDGES[name], None, *(n for one in sets for n in figures.get(one, (None, None)))])
    notes = [
        *(f"- {text}" for judge in judges for text in dict.fromkeys(judge.signatures)),
        *(f"- {signature(kind, interval='95%', resamples=resamples, seed=seed)}" for kind in KINDS),
        *(f"- {text}" for of_sets in found.values() for one in of_sets.values() for text in one.reasons),
        *(f"- left out: {text}" for text in left_out),
    ]
    if any(len(judge.runs) > 1 for judge in judges):
        notes.append("- of several runs: the mean of their correlations")
    title = "Correlation with people's mean rating (Table 2)"
    return Table(title, ["judge", "runs", *_header(found)], rows, notes)


def _intervals(found: _All, sets: Sets) -> Table:
    """Return a table with one row per set and judge, with intervals."""
    header = ["set", "n", "judge", *(text for title in KINDS.values() for text in (title, "95 % interval"))]
    rows: list[list[Cell]] = []
    for name, replies in sets.items():
        for judge, of_sets in found.items():
            ones = [of_sets[name].kinds.get(kind) for kind in KINDS]
            cells: list[Cell] = [cell for one in ones for cell in (_mean(one), (one.low, one.high) if one else None)]
            rows.append([TITLES[name], len(replies), judge, *cells])
    return Table("The same with intervals", header, rows)


def _runs(judges: Sequence[JudgeScores], found: _All) -> Table:
    """Return a table of the variation between training runs of a judge."""
    parts = ("mean", "best", "standard deviation")
    header = ["judge", "set", "runs", *(f"{title}, {part}" for title in KINDS.values() for part in parts)]
    rows: list[list[Cell]] = []
    for judge in judges:
        for name, one in found[judge.name].items():
            ones = [one.kinds.get(kind) for kind in KINDS]
            counted = max((len(each.values) for each in ones if each), default=0)
            cells: list[Cell] = []
            for each in ones:
                cells += [each.mean, each.best, each.deviation] if each else [NOT_COMPUTABLE, None, None]
            rows.append([judge.name, TITLES[name], counted, *cells])
    return Table("Several trainings of a judge (Table 2)", header, rows)


def _ablation(learners: Sequence[JudgeScores], found: _All) -> Table:
    """Return a table with one row per judge trained on RED, with the dimensions that it was trained on."""
    rows: list[list[Cell]] = [[judge.learnt, judge.name, *_of_sets(found[judge.name])] for judge in learners]
    notes = [
        "- EE: positive emotions of the replies, AE: their words and edits, BE: votes, RE: how many replies",
        f"- {AGGREGATE}: all dimensions that the curation of its file measured and weighted (see its data card)",
    ]
    return Table(
        "By the dimensions of RED that it learnt from (Figure 2)", ["dimensions", "judge", *_header(found)], rows, notes
    )


def _interval_plot(kind: str, found: _All) -> Intervals:
    series: dict[str, dict[str, tuple[float, float, float]]] = {}
    for judge, of_sets in found.items():
        for name, one in of_sets.items():
            points = series.setdefault(TITLES[name], {})
            if each := one.kinds.get(kind):
                points[judge] = (each.mean, each.low, each.high)
    title = f"{KINDS[kind]}'s correlation with people's mean rating, 95 % intervals"
    return Intervals(f"correlations_{kind}", title, "correlation", "", list(found), series)


def _ablation_plot(kind: str, learners: Sequence[JudgeScores], found: _All) -> RowBars:
    rows = {judge.name: f"{judge.learnt}: {judge.name}" for judge in learners}
    series: dict[str, dict[str, float]] = {}
    for judge, row in rows.items():
        for name, one in found[judge].items():
            bars = series.setdefault(TITLES[name], {})
            if each := one.kinds.get(kind):
                bars[row] = each.mean
    title = f"{KINDS[kind]}'s correlation, by the dimensions of RED that a judge learnt from"
    return RowBars(f"ablation_{kind}", title, "correlation", "", list(rows.values()), series)


def _items(name: str, replies: Sequence[RatedReply], judges: Sequence[JudgeScores]) -> list[dict[str, Any]]:
    """Return a record of each reply: its author, ratings and scores; a score that is not finite becomes None."""
    scores = {
        run: of_sets[name] for judge in judges for run, of_sets in zip(_run_names(judge), judge.runs, strict=True)
    }
    return [
        {
            "set": name,
            "item": one.item,
            "system": one.system,
            "rating_mean": one.human,
            "ratings": list(one.ratings),
            "scores": {run: found[place] if math.isfinite(found[place]) else None for run, found in scores.items()},
        }
        for place, one in enumerate(replies)
    ]
