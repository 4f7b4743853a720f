"""Implementation of ``parlai ratings_power``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from parlai.core.opt import Opt

from parlai_empathy.agent_kit.options.common import check_at_least
from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.analysis.answers import named, sort_answers
from parlai_empathy.rating.analysis.exclusions import included
from parlai_empathy.rating.analysis.variance import Spread, spread
from parlai_empathy.rating.rating import Rating
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.reports.plots import Plot
from parlai_empathy.reports.ratings.power import Aim, Scale, likert_needed, likert_seen, wins_needed, wins_seen
from parlai_empathy.reports.ratings.report import mixed
from parlai_empathy.reports.report import Report
from parlai_empathy.reports.table import Table
from parlai_empathy.scripts.parts.ratings_options import check_scale
from parlai_empathy.statistics.likert_power import LikertDesign
from parlai_empathy.statistics.power import check_power

_SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)


def run(opt: Opt, same_reply: float) -> Report:
    """Make the report, print it, and save it.

    :param same_reply: default correlation of two ratings of one reply, 0..1, if it is neither given nor measured.
    """
    _check(opt)
    tables: list[Table] = []
    plots: list[Plot] = []
    if opt["difference"] or opt["items"]:
        more, drawn = _likert(opt, same_reply)
        tables, plots = [*tables, *more], [*plots, *drawn]
    if opt["win_rate"]:
        table, drawn = wins_needed(opt["win_rate"], opt["ties"], _aim(opt))
        tables, plots = [*tables, table], [*plots, *drawn]
    if opt["comparisons_made"]:
        tables.append(wins_seen(opt["comparisons_made"], opt["ties"], _aim(opt)))
    report = Report("Power of ratings", tables, plots)
    report.show(opt["out"])
    return report


def _check(opt: Opt) -> None:
    if not any(opt[name] for name in ("difference", "items", "win_rate", "comparisons_made")):
        raise OptionError(
            "nothing to compute: name a --difference in points, a --win-rate, or a number of --items or "
            "--comparisons-made"
        )
    if opt["ratings"] and not (opt["difference"] or opt["items"]):
        raise OptionError("--ratings: used only for --difference and --items: name one of them, or leave it out")
    if opt["question"] is not None and not opt["ratings"]:
        raise OptionError("--question: chooses one of the questions in --ratings: name this file, or leave it out")
    check_scale(opt["scale"])
    check_power(opt["power"], opt["alpha"])
    check_at_least(opt, 1, "tests", "runs")
    check_at_least(opt, 0, "seed")
    for name, least in (("raters", 1), ("items", 2), ("comparisons_made", 1)):
        if low := [value for value in opt[name] if value < least]:
            raise OptionError(f"--{name.replace('_', '-')} {low[0]}: must be at least {least}")
    if wrong := [value for value in opt["difference"] if not math.isfinite(value)]:
        raise OptionError(f"--difference {wrong[0]:g}: must be a finite number of points")
    if not 0 <= opt["ties"] < 1:
        raise OptionError(f"--ties {opt['ties']:g}: must be at least 0 and below 1, a share of all comparisons")


def _aim(opt: Opt) -> Aim:
    return Aim(opt["power"], opt["alpha"], opt["tests"], opt["runs"], opt["seed"])


def _likert(opt: Opt, otherwise: float) -> tuple[list[Table], list[Plot]]:
    """Return the tables and plots for ratings on a scale.

    :param otherwise: default correlation of two ratings of one reply, as in :func:`run`.
    """
    measured, notes = None, []
    points: Sequence[float] = _SCALE
    if opt["ratings"]:
        ratings = _asked(opt)
        measured, note = _measured(ratings, str(opt["ratings"]))
        points = sorted({one.rating for one in ratings if one.rating is not None})
        notes += [note, *mixed(named(ratings[0].question, "question"), ratings, are_choices=False)]
    if opt["sd"] is None and measured is None:
        raise OptionError("--sd: name the standard deviation of single ratings, or --ratings to estimate it from")
    same_reply = _first(opt["same_reply"], measured and measured.same_reply, otherwise)
    measured_item = measured.same_item if measured and opt["paired"] else None
    same_item = _first(opt["same_item"], measured_item, 0.0)
    design = LikertDesign(
        sd=_first(opt["sd"], measured and measured.sd, 0.0),
        same_reply=same_reply,
        same_item=min(same_item, same_reply) if opt["same_item"] is None else same_item,
        paired=opt["paired"],
    )
    scale, aim = Scale(opt["scale"] or points, measured.mean if measured else None), _aim(opt)
    tables: list[Table] = []
    plots: list[Plot] = []
    if opt["difference"]:
        table, plots = likert_needed(design, opt["difference"], opt["raters"], scale, aim)
        tables.append(table)
    if opt["items"]:
        tables.append(likert_seen(design, opt["items"], opt["raters"], aim))
    return [replace(table, notes=[*notes, *table.notes]) for table in tables], plots


def _asked(opt: Opt) -> list[Rating]:
    """Return the ratings of single replies for the chosen question of ``--ratings``."""
    scores = sort_answers(included(ratings_of(opt["ratings"], opt["scale"], opt["skip_bad_rows"]))).scores
    questions = list(dict.fromkeys(one.question for one in scores))
    if not questions:
        raise NotComputableError(f"{opt['ratings']} has no ratings of single replies")
    chosen = opt["question"] if opt["question"] is not None or len(questions) > 1 else questions[0]
    if chosen not in questions:
        asked = f" {chosen!r} was not asked" if chosen is not None else ""
        known = f"name one of {', '.join(map(repr, questions))}"
        raise OptionError(f"--question{asked}: {known if any(questions) else 'the file names none: leave it out'}")
    return [one for one in scores if one.question == chosen]


def _measured(ratings: Sequence[Rating], path: str) -> tuple[Spread, str]:
    """Return the measured standard deviation and correlations, and a note for the report."""
    found = spread(ratings)
    same = [
        f"{name} {'cannot be measured' if value is None else f'{value:.3f}'}"
        for name, value in (("same reply", found.same_reply), ("same item", found.same_item))
    ]
    question = named(ratings[0].question, "question")
    return found, f"- measured in {path}, {question}: standard deviation {found.sd:.3f}, {', '.join(same)}"


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)
