"""Report of inter-rater agreement: weighted kappa as in HUMOD's Table 2, Fleiss' kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.answers import Answers
from parlai_empathy.rating.rating import PREFERENCES
from parlai_empathy.rating.ratings_file import by_unit
from parlai_empathy.reports.cells import NOT_COMPUTABLE, Cell
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.statistics.agreement import PAIRINGS, WEIGHTS, Agreement, AgreementReport, agreement

# Merdivan et al. 2020, Table 2.
HUMOD_KAPPAS = {"closest": 0.86, "lowest": 0.57, "highest": 0.55, "random": 0.42}

_MOST_VALUES = 500
_HEADER = ("measure", "value", "95 % interval")
_NO_INTERVAL = "- no interval: all resamples give the same value, as with a single item or perfect agreement"


Items = Sequence[Sequence[float]]
"""The ratings of each item."""

Scale = Sequence[float] | None
"""All values that a rating can have; None: those that occur."""


def questions_of(answers: Answers, scale: Scale, nameless: str) -> tuple[dict[str, Items], dict[str, Scale]]:
    """Return the items and the scale of each question, as :func:`agreement_report` takes them, without choices.

    A question that was asked about single replies and about two of them is two questions.

    :param scale: of single replies.
    :param nameless: what to call a question without a name.
    """
    questions: dict[str, Items] = {}
    scales: dict[str, Scale] = {}
    for some, values in ((answers.scores, scale), (answers.preferences, PREFERENCES)):
        for question, units in by_unit(some).items():
            name = answers.title(question, some is answers.preferences, nameless)
            questions[name], scales[name] = list(units.values()), values
    return questions, scales


def agreement_report(
    questions: Mapping[str, Items],
    scales: Mapping[str, Scale],
    title: str,
    seed: int,
    resamples: int,
    papers: Mapping[str, float] | None = None,
) -> Report:
    """Return a report with one table per question.

    :param papers: a paper's weighted kappas by pairing, for comparison. No paper so far states its weights.
    :raises NotComputableError: if no question has agreement.
    """
    if not any(len(ratings) > 1 for items in questions.values() for ratings in items):
        raise NotComputableError("no agreement: no item has two ratings of the same question")
    found = agreement_tables(questions, scales, seed, resamples, papers)
    plots = [plot for _, plot in found.values() if plot]
    if not plots:
        reasons = "; ".join(
            f"{name}: {note.removeprefix('- ')}" for name, (table, _) in found.items() for note in table.notes
        )
        raise NotComputableError(reasons)
    return Report(title, [table for table, _ in found.values()], plots)


def agreement_tables(
    questions: Mapping[str, Items],
    scales: Mapping[str, Scale],
    seed: int,
    resamples: int,
    papers: Mapping[str, float] | None = None,
) -> dict[str, tuple[Table, Intervals | None]]:
    """Return each question's table, and its plot; of one without agreement, the table says why, and there is no plot.

    The parameters are those of :func:`agreement_report`.
    """
    tables: dict[str, tuple[Table, Intervals | None]] = {}
    for name, items in questions.items():
        try:
            found = agreement(items, scales[name] or _values(items), seed, resamples)
        except NotComputableError as error:
            tables[name] = (Table(name, _HEADER, [], [f"- {error}"]), None)
        else:
            rows = _measures(found)
            tables[name] = (_table(name, found, rows, papers), _plot(name, rows))
    return tables


def _values(items: Items) -> list[float]:
    values = sorted({one for ratings in items for one in ratings})
    if len(values) > _MOST_VALUES:  # the time needed grows with the square of their number
        raise NotComputableError(
            f"{len(values):,} different ratings are too many for a scale (at most {_MOST_VALUES}): round them"
        )
    return values


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
            *([_NO_INTERVAL] if any(found.value is not None and found.low is None for found in rows.values()) else []),
            *(f"- {found.signature}" for found in rows.values()),
        ],
    )


def _cells(found: Agreement) -> list[Cell]:
    """Return the cells of the value and its interval."""
    if found.value is None:
        return [NOT_COMPUTABLE, None]
    return [found.value, None if found.low is None or found.high is None else (found.low, found.high)]


def _plot(name: str, rows: Mapping[str, Agreement]) -> Intervals:
    """Return the plot of all measures that have a value; one without an interval is drawn without a width."""
    known = {measure: found.span for measure, found in rows.items() if found.span}
    return Intervals(
        f"agreement_{name}", f"Agreement: {name}", "agreement beyond chance", "", list(known), {name: known}
    )
