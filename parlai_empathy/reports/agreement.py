"""Report of inter-rater agreement: weighted kappa as in HUMOD's Table 2, Fleiss' kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlai_empathy.errors import NotComputableError
from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.report import Report, Table
from parlai_empathy.statistics.agreement import PAIRINGS, WEIGHTS, Agreement, AgreementReport, agreement

# Merdivan et al. 2020, Table 2.
HUMOD_KAPPAS = {"closest": 0.86, "lowest": 0.57, "highest": 0.55, "random": 0.42}

_MOST_VALUES = 500
_HEADER = ("measure", "value", "95 % interval")


def agreement_report(
    questions: Mapping[str, Sequence[Sequence[float]]],
    scales: Mapping[str, Sequence[float] | None],
    title: str,
    seed: int,
    resamples: int,
    papers: Mapping[str, float] | None = None,
) -> Report:
    """Return a report with one table per question.

    :param questions: each question's items, with the ratings of each.
    :param scales: for each question, all values that a rating can have; None: the values that occur.
    :param papers: a paper's weighted kappas by pairing, for comparison. No paper so far states its weights.
    :raises NotComputableError: if no item of any question has two ratings, a rating is not on the scale, or there is no
        scale and there are too many distinct ratings.
    """
    if not any(map(_has_two_ratings, questions.values())):
        raise NotComputableError("no agreement: no item has two ratings of the same question")
    tables, plots = [], []
    for question, items in questions.items():
        name = question or "ratings"
        if not _has_two_ratings(items):
            tables.append(Table(name, _HEADER, [], [f"- none of {len(items):,} items has two ratings"]))
            continue
        found = agreement(items, scales[question] or _values(name, items), seed, resamples)
        rows = _measures(found)
        tables.append(_table(name, found, rows, papers))
        plots.append(_plot(name, rows))
    return Report(title, tables, plots)


def _values(name: str, items: Sequence[Sequence[float]]) -> list[float]:
    values = sorted({one for ratings in items for one in ratings})
    if len(values) > _MOST_VALUES:  # the time needed grows with the square of their number
        raise NotComputableError(
            f"{name}: {len(values):,} different ratings are too many for a scale (at most {_MOST_VALUES}): round them"
        )
    return values


def _has_two_ratings(items: Sequence[Sequence[float]]) -> bool:
    return any(len(ratings) > 1 for ratings in items)


def _measures(report: AgreementReport) -> dict[str, Agreement]:
    kappas = {_kappa(weights, pairing): report.kappas[pairing, weights] for weights in WEIGHTS for pairing in PAIRINGS}
    alphas = {f"Krippendorff's alpha, {level}": found for level, found in report.alphas.items()}
    return {**kappas, "Fleiss' kappa": report.fleiss, **alphas}


def _kappa(weights: str, pairing: str) -> str:
    return f"weighted kappa, {weights}, the {pairing} two"


def _table(
    name: str, report: AgreementReport, rows: Mapping[str, Agreement], papers: Mapping[str, float] | None
) -> Table:
    cells: list[list[Cell]] = [[measure, *_cells(found)] for measure, found in rows.items()]
    if papers is not None:
        theirs = {_kappa(weights, pairing): value for pairing, value in papers.items() for weights in WEIGHTS}
        cells = [[*row, theirs.get(str(row[0]))] for row in cells]
    reasons = dict.fromkeys(found.reason for found in rows.values() if found.reason)
    return Table(
        title=f"{name}: {report.items:,} items, {report.ratings:,} ratings",
        header=[*_HEADER, *(["paper's"] if papers is not None else [])],
        rows=cells,
        notes=[
            *([f"- {report.left_out:,} items with fewer than two ratings are left out"] if report.left_out else []),
            *(["- the paper does not say how it weighted disagreements"] if papers is not None else []),
            *(f"- {reason}" for reason in reasons),
            *(f"- {found.signature}" for found in rows.values()),
        ],
    )


def _cells(found: Agreement) -> list[Cell]:
    """Return the cells of the value and its interval."""
    if found.value is None or found.low is None or found.high is None:
        return ["not computable", None]
    return [found.value, (found.low, found.high)]


def _plot(name: str, rows: Mapping[str, Agreement]) -> Intervals:
    known = {
        measure: (found.value, found.low, found.high)
        for measure, found in rows.items()
        if found.value is not None and found.low is not None and found.high is not None
    }
    return Intervals(
        f"agreement_{name}", f"Agreement: {name}", "agreement beyond chance", "", list(known), {name: known}
    )
