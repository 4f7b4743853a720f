"""What raters did, which of them should be looked at, and who was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlai_empathy.rating.analysis.raters import Rater
from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.ratings_systems import NONE
from parlai_empathy.reports.report import Table


def raters_table(raters: Sequence[Rater], excluded: Mapping[str, str], called: Mapping[str, str]) -> Table:
    """One row a rater; those with most to look at first.

    :param raters: all of them, those who are left out too.
    :param excluded: rater to reason.
    :param called: what the table calls raters, if not by their names.
    """
    order = sorted(raters, key=lambda one: -len(one.flags))
    rows: list[list[Cell]] = [
        [
            called.get(one.name, one.name),
            one.ratings,
            one.texts,
            NONE if one.same is None else one.same,
            NONE if one.seconds is None else one.seconds,
            f"{one.failed} of {one.checks}" if one.checks else NONE,
            NONE if one.correlation is None else one.correlation,
            one.shared,
            "; ".join(one.flags.values()),
            "yes" if one.name in excluded else "",
        ]
        for one in order
    ]
    header = [
        *("rater", "ratings", "texts", "same answer", "seconds a page", "checks failed", "agrees with others"),
        *("shared items", "look at", "left out"),
    ]
    notes = [
        "- same answer: the share of the commonest point; seconds: the median; agrees: Pearson's correlation with the "
        "mean of the others, each question on its own scale",
        "- look at: what simple rules flag; the decision is yours: --exclude FILE names raters to leave out, "
        "--exclude-flagged true leaves out all who are flagged",
        f"- {NONE}: not available: not asked, not timed, or not rated by others",
    ]
    return Table("Raters", header, rows, notes, digits=2)


def excluded_table(
    excluded: Mapping[str, str], answers: Mapping[str, int], unknown: Sequence[str], called: Mapping[str, str]
) -> Table | None:
    """Who is left out of all numbers, and why; None if nobody is.

    :param answers: how many answers each rater gave.
    :param unknown: raters who should be left out, and have given none.
    :param called: what the table calls raters, if not by their names.
    """
    if not excluded and not unknown:
        return None
    rows: list[list[Cell]] = [[called.get(rater, rater), answers[rater], reason] for rater, reason in excluded.items()]
    strangers = f"{len(unknown)} more" if called else ", ".join(unknown)
    notes = [
        "- nothing is deleted: without the exclusion they count again",
        *([f"- not in this file: {strangers}"] if unknown else []),
    ]
    return Table("Left out", ["rater", "answers", "reason"], rows, notes)
