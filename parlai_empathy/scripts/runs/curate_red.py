"""Implementation of ``parlai curate_red``."""

from __future__ import annotations

import os
from pathlib import Path

from parlai.core.opt import Opt

from parlai_empathy.curation.curate import FILE, Curated, Plan, curate
from parlai_empathy.curation.text_scores import TextScorer
from parlai_empathy.errors import OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.reports.previous_report import remove_report
from parlai_empathy.reports.red import data_card
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.text_scorers import PositiveEmotion, ToxicModel, ToxicWords
from parlai_empathy.scripts.parts.recipe_options import recipe_of
from parlai_empathy.scripts.parts.stopping import stopped
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.reddit.build import build, files_of

_MOST_THREADS = 1024  # more than helps on any machine; a mistyped value of millions would start that many threads


def run(opt: Opt) -> Curated:
    """Write the data set and its card."""
    plan = _plan(opt)
    try:
        curated = curate(
            plan,
            finish=lambda curated: data_card(curated, plan).show(plan.folder),
            discard=lambda: remove_report(plan.folder),
        )
    except KeyboardInterrupt:
        raise stopped("Run the same command again to resume.") from None
    added = f" and {sum(curated.added.values()):,} negative samples" if curated.added else ""
    print(f"{plan.folder / FILE}: {2 * curated.chosen.each:,} posts{added}")
    print(f"{plan.work}: every post of the dumps with its id; delete it before you publish {plan.folder}")
    return curated


def _plan(opt: Opt) -> Plan:
    if not opt["out"]:
        raise OptionError("--out: name a folder for the data set")
    threads = (os.cpu_count() or 1) if opt["threads"] is None else opt["threads"]
    if not 1 <= threads <= _MOST_THREADS:
        raise OptionError(f"--threads {threads}: must be from 1 to {_MOST_THREADS:,}")
    if not 0 <= opt["negative_samples"] <= 1:
        raise OptionError(f"--negative-samples {opt['negative_samples']}: must be from 0 to 1")
    recipe = recipe_of(opt)
    emotion = PositiveEmotion(Classifier(opt["emotion_model"], opt["datapath"])) if opt["emotion_model"] else None
    return Plan(
        _dumps(opt),
        user_path(opt["out"]),
        recipe,
        emotion,
        _toxicity(opt["toxicity"]),
        opt["negative_samples"],
        opt["with_ids"],
        opt["memory"],
        threads,
        opt["engine"],
        opt["spark_master"],
    )


def _dumps(opt: Opt) -> list[Path]:
    if not opt["dumps"]:
        return build(opt, "--dumps")
    if is_sample(opt):
        raise OptionError("--edition sample: cannot be combined with --dumps: leave one of them out")
    return [file for name in opt["dumps"] for file in files_of(user_path(name), "--dumps")]


def _toxicity(what: str | None) -> TextScorer | None:
    if not what:
        return None
    return ToxicWords(what.removeprefix("words:")) if what.startswith("words:") else ToxicModel(what)
