"""Report of people's ratings: systems, inter-rater agreement, raters, and automatic metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.answers import A_OR_B, Answers, named, sort_answers
from parlai_empathy.rating.analysis.differences import How
from parlai_empathy.rating.analysis.exclusions import excluded_in_study, without
from parlai_empathy.rating.analysis.metric_scores import Scores
from parlai_empathy.rating.analysis.raters import Rater, judge_raters, reasons
from parlai_empathy.rating.rating import Rating
from parlai_empathy.reports.agreement import agreement_tables, questions_of
from parlai_empathy.reports.cells import Cell
from parlai_empathy.reports.plots import Plot
from parlai_empathy.reports.ratings.metrics import metrics_table
from parlai_empathy.reports.ratings.preferences import by_question, strengths_table, wins_table
from parlai_empathy.reports.ratings.raters import excluded_table, raters_table
from parlai_empathy.reports.ratings.systems import by_question_and_system, differences_table, means_tables
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table

_LARGEST = 1e6  # larger ratings are mistakes, and their squares could overflow


@dataclass(frozen=True)
class Wishes:
    """Options of a report.

    :param unit: the unit of the sign test: see :func:`parlai_empathy.rating.analysis.preferences.tallies`.
    :param scale: all points that a rating of a single reply can have; None: the points that occur in each question.
    :param tolerance: by how many points an answer to a check may differ, if it is a point on a scale.
    :param excluded: the excluded raters, each with the reason.
    :param exclude_flagged: whether to also exclude raters flagged by a rule.
    :param hide_raters: whether to replace raters' names by numbers: crowdsourcing ids may identify persons.
    :param scores: scores of automatic metrics for the same replies.
    """

    how: How = field(default_factory=How)
    unit: str = "item"
    scale: Sequence[float] | None = None
    tolerance: float = 0.0
    excluded: Mapping[str, str] = field(default_factory=dict)
    exclude_flagged: bool = False
    hide_raters: bool = False
    scores: Scores | None = None


def ratings_report(title: str, ratings: Sequence[Rating], wishes: Wishes) -> tuple[Report, list[Rater]]:
    """Return the report, and statistics of every rater, including the excluded ones.

    :raises NotComputableError: if there are no ratings, none are left, or one is larger than any scale.
    """
    if not ratings:
        raise NotComputableError("no ratings: a report needs at least one row")
    if large := next((one for one in ratings if abs(one.rating or 0.0) > _LARGEST), None):
        raise NotComputableError(
            f"item {large.name!r} is rated {large.rating:g} by {large.rater!r}: beyond any scale: correct it"
        )
    raters, excluded = _judged(ratings, wishes)
    left = without(ratings, excluded)
    if not left:
        raise NotComputableError(f"all {len(raters)} raters are left out: no ratings remain")
    answers = sort_answers(left)
    parts = [_systems(answers, wishes), _preferences(answers, wishes), _choices(answers), _agreement(answers, wishes)]
    if wishes.scores is not None:
        table, plots = metrics_table(_all_groups(answers), wishes.scores, wishes.how.resamples, wishes.how.seed)
        parts.append(([table], plots))
    counts = Counter(one.rater for one in ratings)
    unknown = [rater for rater in wishes.excluded if rater not in counts]
    called = {one.name: f"rater {number}" for number, one in enumerate(raters, 1)} if wishes.hide_raters else {}
    people = [raters_table(raters, excluded, called), excluded_table(excluded, counts, unknown, called)]
    tables = [_overview(answers, len(left)), *(table for tables, _ in parts for table in tables)]
    return (
        Report(
            title,
            [*tables, *(table for table in people if table)],
            [plot for _, plots in parts for plot in plots],
            _records(answers),
        ),
        raters,
    )


def _judged(ratings: Sequence[Rating], wishes: Wishes) -> tuple[list[Rater], dict[str, str]]:
    """Return statistics of all raters, and the excluded ones in the same order, each with the reason.

    With ``exclude_flagged``, the remaining raters are judged again, as by a second report that excludes the flagged.
    """
    excluded = {**excluded_in_study(ratings), **wishes.excluded}
    raters = judge_raters(ratings, wishes.tolerance, excluded)
    if wishes.exclude_flagged:
        excluded = {**reasons(raters), **excluded}
        raters = judge_raters(ratings, wishes.tolerance, excluded)
    return raters, {one.name: excluded[one.name] for one in raters if one.name in excluded}


# --- overview --------------------------------------------------------------------------------------------------------


def _overview(answers: Answers, n: int) -> Table:
    kinds = (
        ("rating", answers.scores),
        (A_OR_B, answers.preferences),
        ("choice", answers.choices),
        ("text", answers.texts),
        ("check", answers.checks),
    )
    rows: list[list[Cell]] = []
    notes: list[str] = []
    for kind, some in kinds:
        for question, group in by_question(some).items():
            values = sorted({one.rating for one in group if one.rating is not None})
            units = {one.unit for one in group}
            systems = {name for one in group for name in (one.system, one.other) if name}
            rows.append(
                [
                    named(question, "question"),
                    kind,
                    len(group),
                    len({one.place for one in group}),
                    len(systems),
                    len({one.rater for one in group}),
                    len(group) / len(units),
                    f"{values[0]:g} to {values[-1]:g}" if values else "-",
                ]
            )
            if kind in ("rating", "choice"):
                notes += mixed(named(question, "question"), group, kind == "choice")
    notes.append(
        "- each: ratings per reply, turn or pair of replies; free texts and checks do not count in what follows"
    )
    if len(rows) and not answers.rated:
        notes.append("- no system was rated: there is nothing to report on systems")
    header = ["question", "kind", "answers", "items", "systems", "raters", "each", "points used"]
    return Table("What was answered", header, rows, [f"- {n:,} answers", *notes], digits=1)


def mixed(question: str, group: Sequence[Rating], are_choices: bool) -> list[str]:
    """Return a note if studies, or versions of one, seem to have offered different answers to the same question."""
    used: dict[tuple[str, str], list[Rating]] = {}
    for one in group:
        used.setdefault((one.study, one.version), []).append(one)
    answers = {which: (_texts if are_choices else _range)(some) for which, some in used.items()}
    if len(set(answers.values())) < 2:
        return []
    has_versions = len({study for study, _ in answers}) < len(answers)
    said = ", ".join(
        f"{named(study, 'study')}{f' {version}'.rstrip() if has_versions else ''}: {some}"
        for (study, version), some in answers.items()
    )
    who = "studies or their versions" if has_versions else "studies"
    what, where = ("choices", "choices") if are_choices else ("points", "scales")
    return [f"- {question}: the {who} use different {what} ({said}): if their {where} differ, report them separately"]


def _range(ratings: Sequence[Rating]) -> str:
    values = [one.rating for one in ratings if one.rating is not None]
    return f"{min(values):g} to {max(values):g}"


def _texts(choices: Sequence[Rating]) -> str:
    return " / ".join(sorted({_chosen(one) for one in choices}))


def _chosen(choice: Rating) -> str:
    return choice.text or f"{choice.rating:g}"


# --- results ---------------------------------------------------------------------------------------------------------


def _systems(answers: Answers, wishes: Wishes) -> tuple[list[Table], list[Plot]]:
    if not answers.scores:
        return [], []
    groups = by_question_and_system(answers.scores)
    tables, plots = means_tables(groups, wishes.how)
    if found := differences_table(groups, wishes.how):
        return [*tables, found[0]], [*plots, *found[1]]
    note = "- no question was asked of two systems: there are no differences to test"
    return [*tables[:-1], replace(tables[-1], notes=[note, *tables[-1].notes])], plots


def _preferences(answers: Answers, wishes: Wishes) -> tuple[list[Table], list[Plot]]:
    if not answers.preferences:
        return [], []
    groups, how = by_question(answers.preferences), wishes.how
    wins, bars = wins_table(groups, wishes.unit)
    strong, intervals = strengths_table(groups, how.clusters, how.resamples, how.seed)
    return [wins, strong], [*bars, *intervals]


def _choices(answers: Answers) -> tuple[list[Table], list[Plot]]:
    """Count how often each choice was made, in the order of their numbers. They are nominal, so they have no mean."""
    if not answers.choices:
        return [], []
    chosen = sorted(answers.choices, key=lambda one: (one.question, one.system, one.rating or 0.0))
    counts = Counter((one.question, one.system, _chosen(one)) for one in chosen)
    asked = Counter((one.question, one.system) for one in answers.choices)
    rows: list[list[Cell]] = [
        [named(question, "question"), named(system, "system"), choice, n, n / asked[question, system]]
        for (question, system, choice), n in counts.items()
    ]
    note = "- a question whose numbers each have a text is treated as a choice; without the column text it is a rating"
    return [Table("Choices", ["question", "system", "choice", "answers", "share"], rows, [note])], []


def _agreement(answers: Answers, wishes: Wishes) -> tuple[list[Table], list[Plot]]:
    """Return the tables of ``parlai agreement``, one per question."""
    questions, scales = questions_of(answers, wishes.scale, named("", "question"))
    found = agreement_tables(questions, scales, wishes.how.seed, wishes.how.resamples)
    tables = [_retitled(table, f"Agreement: {name}") for name, (table, _) in found.items()]
    return tables, [plot for _, plot in found.values() if plot]


def _retitled(table: Table, title: str) -> Table:
    """Move the counts from the title to the notes: they change with each rating, and files are named after titles."""
    counts = [f"- {table.title}"] if table.rows else []
    return replace(table, title=title, notes=[*counts, *table.notes])


def _all_groups(answers: Answers) -> dict[str, list[Rating]]:
    return {
        answers.title(question, is_comparison, named("", "question")): group
        for some, is_comparison in ((answers.scores, False), (answers.preferences, True))
        for question, group in by_question(some).items()
    }


def _records(answers: Answers) -> list[dict[str, object]]:
    """Return one record per rated reply, turn or pair of replies, for further analysis."""
    units: dict[tuple[str, ...], list[float]] = {}
    for one in answers.rated:
        key = (one.question, *one.place, one.turn, one.system, one.other)
        units.setdefault(key, []).append(one.rating or 0.0)
    names = ("question", "study", "version", "item", "turn", "system", "other")
    records = []
    for unit, values in units.items():
        about: dict[str, object] = dict(zip(names, unit, strict=True))
        turn = str(about["turn"])
        about["turn"] = int(turn) if turn.isdecimal() else turn or None  # as in other files
        records.append({**about, "mean": fmean(values), "ratings": len(values)})
    return records
