"""Implementation of ``parlai agreement``: reports on HUMOD's ratings, or on those in a file."""

from __future__ import annotations

from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.rating.analysis.answers import sort_answers
from parlai_empathy.rating.analysis.exclusions import included
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.reports.agreement import HUMOD_KAPPAS, agreement_report, questions_of
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.parts.ratings_options import check_scale
from parlai_empathy.scripts.parts.samples import check_samples
from parlai_empathy.tasks.humod.agents import read_pairs
from parlai_empathy.tasks.humod.build import build, title_of
from parlai_empathy.tasks.humod.records import SCALE


def run(opt: Opt) -> Report:
    """Make the report, print it, and save it."""
    check_samples(opt)
    report = _of_file(opt) if opt["ratings"] else _of_humod(opt)
    report.show(opt["out"])
    return report


def _of_file(opt: Opt) -> Report:
    path, scale = Path(opt["ratings"]), opt["scale"]
    if opt["humod_file"]:
        raise OptionError("--ratings and --humod-file: name only one of them")
    check_scale(scale)
    answers = sort_answers(included(ratings_of(path, scale, opt["skip_bad_rows"])))
    questions, scales = questions_of(answers, scale, "ratings")
    if not questions:
        what = "only choices, which have no order" if answers.choices else "no ratings"
        raise NotComputableError(f"{path} has {what}: a row with a rating is needed below the header")
    return agreement_report(questions, scales, f"Agreement: {path.name}", opt["seed"], opt["resamples"])


def _of_humod(opt: Opt) -> Report:
    if opt["scale"] is not None:
        raise OptionError("--scale: HUMOD's scale is fixed: name --ratings as well, or leave it out")
    path = build(opt)
    pairs = read_pairs(path, opt["skip_bad_rows"])
    ratings = [pair.ratings for pair in pairs if pair.ratings]
    if not ratings:
        raise NotComputableError(f"{path} has no individual ratings, only their means: use the official file")
    if len(ratings) < len(pairs):
        logging.warning(f"{path}: left out {len(pairs) - len(ratings):,} pair(s) without individual ratings")
    title = f"HUMOD: agreement of raters ({title_of(path)})"
    return agreement_report(
        {"relevance": ratings}, {"relevance": SCALE}, title, opt["seed"], opt["resamples"], HUMOD_KAPPAS
    )
