"""``parlai curate_red``: from dumps of Reddit to posts that people engaged with, and posts that they did not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_empathy.curation.curate import FILE, Curated, Plan, curate
from parlai_empathy.curation.engine import ENGINES, open_engine
from parlai_empathy.curation.recipe import ALPHAS, WEIGHTS, Recipe
from parlai_empathy.curation.texts import TextScorer
from parlai_empathy.errors import OptionError
from parlai_empathy.reports.red import data_card
from parlai_empathy.scoring.classifier import Classifier
from parlai_empathy.scoring.text_scorers import PositiveEmotion, ToxicModel, ToxicWords
from parlai_empathy.tasks.edition import add_edition
from parlai_empathy.tasks.reddit.build import build, files_of

_NUMBERS = {
    "kappa": (float, "How many standard deviations from the mean a post has to be."),
    "min_replies": (int, "Leave out posts with fewer replies."),
    "edited_reply": (int, "How many words a reply that was edited counts for."),
    "parent_reply": (int, "How many upvotes a reply to a post's parent counts for, in the post's popularity."),
    "valid_share": (float, "Share of the threads that is for validation."),
    "toxic_above": (float, "Leave out posts that are more probably toxic, with --toxicity."),
    "seed": (int, "Decides which posts of the larger class are left out, and which are for validation."),
}


@register_script("curate_red")
class CurateRed(ParlaiScript):
    """Curate RED, and write it with its data card."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        """The dumps, the scorers of texts, the engine, and the constants, whose defaults are the paper's."""
        parser = ParlaiParser(True, False, "Make RED, posts by how people engaged with them, from dumps of Reddit")
        group = parser.add_argument_group("Curation")
        group.add_argument(
            "--dumps",
            nargs="+",
            default=[],
            metavar="FILE",
            help="Dumps (.zst, .bz2, .xz, JSON lines), or folders of them; left out, those of empathy:reddit.",
        )
        add_edition(group)
        group.add_argument(
            "--out", default=None, help="Folder for the data set, its card, and what may be needed again."
        )
        group.add_argument(
            "--emotion-model",
            default=None,
            metavar="MODEL",
            help="Model of a classifier of GoEmotions; without it emotional engagement has no part.",
        )
        group.add_argument(
            "--toxicity",
            default=None,
            metavar="WHAT",
            help="words:FILE, a list of words, one a line; or a Hugging Face classifier (folder, or name on the hub) "
            "with a class that is called toxic. Without it no post is left out for being toxic.",
        )
        group.add_argument("--subreddits", nargs="+", default=[], metavar="NAME", help="Read these alone.")
        group.add_argument(
            "--negative-samples",
            type=float,
            default=0.0,
            metavar="SHARE",
            help="Add negative samples for this share of the posts (+NS): words put in, words taken out, the context "
            "said again, generic replies.",
        )
        group.add_argument("--with-ids", type="bool", default=False, help="Keep the comments' ids.")
        engine = parser.add_argument_group("Engine")
        engine.add_argument("--engine", choices=list(ENGINES), default="duckdb", help="What holds all posts at once.")
        engine.add_argument("--memory", default="4GB", help="How much DuckDB may take; the rest goes to disk.")
        engine.add_argument("--threads", type=int, default=os.cpu_count(), help="Of DuckDB.")
        engine.add_argument(
            "--spark-master", default=None, metavar="URL", help="Where Spark runs, unless its settings say."
        )
        recipe = parser.add_argument_group("Constants of RED")
        for name, known in (("weights", WEIGHTS), ("alphas", ALPHAS), ("medians", {})):
            default = ",".join(f"{key}={value:g}" for key, value in known.items())
            recipe.add_argument(f"--{name}", default=default, metavar="NAME=NUMBER,...", help=_MEANING[name])
        for name, (kind, meaning) in _NUMBERS.items():
            recipe.add_argument(f"--{name.replace('_', '-')}", type=kind, default=getattr(Recipe(), name), help=meaning)
        return parser

    def run(self) -> Curated:
        """Write the data set and its card."""
        plan = _plan(self.opt)
        engine = open_engine(
            self.opt["engine"], plan.work / "engine", plan.memory, plan.threads, self.opt["spark_master"]
        )
        try:
            curated = curate(plan, engine)
        except KeyboardInterrupt:
            raise SystemExit("\nStopped. The same command goes on where this one ended.") from None
        finally:
            engine.close()
        data_card(curated, plan, engine.name).show(plan.folder)
        added = f" and {sum(curated.added.values()):,} negative samples" if curated.added else ""
        print(f"{plan.folder / FILE}: {2 * curated.chosen.each:,} posts{added}")
        return curated


_MEANING = {
    "weights": "Of the dimensions in the aggregate.",
    "alphas": "What a normalised dimension is half of; one that is not named takes its median.",
    "medians": "Of the dimensions and of popularity (pv), for the adjustment; those that are not named are measured.",
}


def _plan(opt: Opt) -> Plan:
    if not opt["out"]:
        raise OptionError("--out: name a folder for the data set")
    if opt["threads"] < 1:
        raise OptionError(f"--threads {opt['threads']}: must be at least 1")
    if not 0 <= opt["negative_samples"] <= 1:
        raise OptionError(f"--negative-samples {opt['negative_samples']}: must be from 0 to 1")
    numbers = {name: opt[name] for name in _NUMBERS}
    maps: dict[str, Any] = {name: _numbers_of(name, opt[name]) for name in ("weights", "alphas", "medians")}
    recipe = Recipe(**maps, **numbers, subreddits=tuple(opt["subreddits"]))
    emotion = PositiveEmotion(Classifier(opt["emotion_model"], opt["datapath"])) if opt["emotion_model"] else None
    return Plan(
        _dumps(opt),
        Path(opt["out"]).expanduser(),
        recipe,
        emotion,
        _toxicity(opt["toxicity"]),
        opt["negative_samples"],
        opt["with_ids"],
        opt["memory"],
        opt["threads"],
    )


def _dumps(opt: Opt) -> list[Path]:
    if not opt["dumps"]:
        return build(opt, "--dumps")
    return [file for name in opt["dumps"] for file in files_of(Path(name).expanduser(), "--dumps")]


def _toxicity(what: str | None) -> TextScorer | None:
    if not what:
        return None
    return ToxicWords(what.removeprefix("words:")) if what.startswith("words:") else ToxicModel(what)


def _numbers_of(option: str, text: str) -> dict[str, float]:
    """What ``ee=2,ae=3`` says."""
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise OptionError(f"--{option} {part!r}: must be of the form ae=3,re=3") from None
    return found


if __name__ == "__main__":
    CurateRed.main()
