"""How far raters agree, as a table: weighted kappa as in HUMOD's Table 2, Fleiss' kappa, Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlai_empathy.metrics.agreement import PAIRINGS, WEIGHTS, Agreement, AgreementReport, agreement
from parlai_empathy.reports.plots import Intervals
from parlai_empathy.reports.report import Cell, Report, Table

# Merdivan et al. 2020, Table 2. The paper does not say how disagreements were weighted.
HUMOD_KAPPAS = {"closest": 0.86, "lowest": 0.57, "highest": 0.55, "random": 0.42}


def agreement_report(
    questions: Mapping[str, Sequence[Sequence[float]]],
    scale: Sequence[float] | None,
    title: str,
    seed: int,
    resamples: int,
    papers: Mapping[str, float] | None = None,
) -> Report:
    """A table for each question.

    :param questions: each question's items, with the ratings of each.
    :param scale: all values that a rating can have; None for the values that occur with a question.
    :param papers: a paper's weighted kappas by pairing, to stand beside.
    :raises NotComputableError: if no item has two ratings, or a rating is not on the scale.
    """
    tables, plots = [], []
    for question, items in questions.items():
        values = scale or sorted({rating for ratings in items for rating in ratings})
        found = agreement(items, values, seed, resamples)
        rows = _measures(found)
        name = question or "ratings"
        tables.append(_table(name, found, rows, papers))
        plots.append(_plot(name, rows))
    return Report(title, tables, plots)


def _measures(report: AgreementReport) -> dict[str, Agreement]:
    kappas = {
        f"weighted kappa, {weights}, the {pairing} two": report.kappas[pairing, weights]
        for weights in WEIGHTS
        for pairing in PAIRINGS
    }
    alphas = {f"Krippendorff's alpha, {level}": found for level, found in report.alphas.items()}
    return {**kappas, "Fleiss' kappa": report.fleiss, **alphas}


def _table(
    name: str, report: AgreementReport, rows: Mapping[str, Agreement], papers: Mapping[str, float] | None
) -> Table:
    cells: list[list[Cell]] = []
    for measure, found in rows.items():
        interval = None if found.low is None else f"{found.low:.3f} to {found.high:.3f}"
        row: list[Cell] = [measure, "not computable" if found.value is None else found.value, interval]
        if papers is not None:
            row.append(next((value for key, value in papers.items() if measure.endswith(f"{key} two")), None))
        cells.append(row)
    reasons = dict.fromkeys(found.reason for found in rows.values() if found.reason)
    return Table(
        title=f"{name}: {report.items:,} items, {report.ratings:,} ratings",
        header=["measure", "value", "95 % interval", *(["paper's"] if papers is not None else [])],
        rows=cells,
        notes=[
            *([f"- {report.left_out:,} items with fewer than two ratings say nothing"] if report.left_out else []),
            *(f"- {reason}" for reason in reasons),
            *(f"- {found.signature}" for found in rows.values()),
        ],
    )


def _plot(name: str, rows: Mapping[str, Agreement]) -> Intervals:
    known = {
        measure: (found.value, found.low, found.high)
        for measure, found in rows.items()
        if found.value is not None and found.low is not None and found.high is not None
    }
    file = "agreement_" + "".join(letter if letter.isalnum() else "_" for letter in name)
    return Intervals(file, f"Agreement: {name}", "agreement beyond chance", "", list(known), {name: known})
