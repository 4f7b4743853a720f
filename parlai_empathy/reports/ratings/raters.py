"""Tables of raters: what they did, who should be reviewed, and who was excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlai_empathy.rating.analysis.rater_rules import NEEDS
from parlai_empathy.rating.analysis.raters import Rater
from parlai_empathy.reports.cells import NONE, Cell
from parlai_empathy.reports.table import Table


def raters_table(raters: Sequence[Rater], excluded: Mapping[str, str], called: Mapping[str, str]) -> Table:
    """Return a table with one row per rater, those with the most flags first.

    :param raters: all raters, including the excluded ones.
    :param excluded: the excluded raters, each with the reason.
    :param called: the names to show instead of the raters' own, if any.
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
        "mean of the others, each question on its own scale; the others are those who are not left out",
        "- look at: what simple rules flag; the decision is yours: --exclude FILE names raters to leave out, "
        "--exclude-flagged true leaves out all who are flagged",
        *_not_judged(raters),
        f"- {NONE}: not available: not asked, not timed, or not rated by others",
    ]
    return Table("Raters", header, rows, notes, digits=2)


def _not_judged(raters: Sequence[Rater]) -> list[str]:
    """Return a note for each rule that could not judge everybody, whose silence says nothing."""
    judged = {rule: sum(rule in one.judged for one in raters) for rule in NEEDS}
    return [
        f"- the rule {rule} judged {judged[rule]} of {len(raters)} raters: it needs {needs}"
        for rule, needs in NEEDS.items()
        if judged[rule] < len(raters)
    ]


def excluded_table(
    excluded: Mapping[str, str], answers: Mapping[str, int], unknown: Sequence[str], called: Mapping[str, str]
) -> Table | None:
    """Return a table of the excluded raters and the reasons; None if there are none.

    :param answers: the number of answers of each rater.
    :param unknown: raters to exclude who gave no answers.
    :param called: the names to show instead of the raters' own, if any.
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
