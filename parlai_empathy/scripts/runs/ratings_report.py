"""Implementation of ``parlai ratings_report``."""

from __future__ import annotations

from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.options.common import check_at_least
from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.rating.analysis.differences import How
from parlai_empathy.rating.analysis.exclusions import read_exclusions, write_exclusions
from parlai_empathy.rating.analysis.metric_scores import read_metric_scores
from parlai_empathy.rating.analysis.raters import reasons
from parlai_empathy.rating.ratings_file import ratings_of
from parlai_empathy.reports.ratings.report import Wishes, ratings_report
from parlai_empathy.reports.report import Report
from parlai_empathy.scripts.parts.ratings_options import check_scale
from parlai_empathy.scripts.parts.samples import check_samples


def run(opt: Opt) -> Report:
    """Make the report, print it, and save it."""
    _check(opt)
    path = Path(opt["ratings"])
    ratings = ratings_of(path, opt["scale"], opt["skip_bad_rows"])
    if not ratings:
        raise NotComputableError(f"{path} has no ratings: a row with a rating is needed below the header")
    report, raters = ratings_report(f"Ratings: {path.name}", ratings, _wishes(opt))
    report.show(opt["out"])
    if opt["out"]:
        _write_flagged(user_path(opt["out"]) / "flagged.csv", reasons(raters), opt["exclude"])
    return report


def _write_flagged(path: Path, flagged: dict[str, str], exclude: str | None) -> None:
    """Write the list of flagged raters, but never over the file of ``--exclude``, which may have been edited."""
    if exclude and path.exists() and path.samefile(user_path(exclude)):
        logging.info(f"{path} was not overwritten: it is the file of --exclude")
    else:
        write_exclusions(path, flagged)


def _check(opt: Opt) -> None:
    if not opt["ratings"]:
        raise OptionError("--ratings: name a .csv or .jsonl file of ratings")
    check_scale(opt["scale"])
    items, out = (user_path(opt[name] or "").resolve() for name in ("items", "out"))
    if opt["items"] and opt["out"] and items.parent == out:
        raise OptionError(f"--out {opt['out']}: the report would overwrite {opt['items']}: name another folder")
    check_samples(opt)
    check_at_least(opt, 0, "check_tolerance")


def _wishes(opt: Opt) -> Wishes:
    return Wishes(
        how=How(opt["test"], opt["resample"], opt["resamples"], opt["seed"]),
        unit=opt["unit"],
        scale=opt["scale"],
        tolerance=opt["check_tolerance"],
        excluded=read_exclusions(opt["exclude"]) if opt["exclude"] else {},
        exclude_flagged=opt["exclude_flagged"],
        hide_raters=opt["hide_raters"],
        scores=read_metric_scores(opt["items"]) if opt["items"] else None,
    )
