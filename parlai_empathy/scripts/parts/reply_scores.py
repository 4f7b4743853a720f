"""What is measured of replies: the options, and the report that follows from them. Two commands share them."""

from __future__ import annotations

from collections.abc import Sequence

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError
from parlai_empathy.metrics.nidf import KINDS
from parlai_empathy.rating.ratings_file import by_question, ratings_of
from parlai_empathy.reports import responses
from parlai_empathy.reports.report import Report
from parlai_empathy.scoring.endex import OUTPUTS
from parlai_empathy.scoring.reply_metrics import ALL, METRICS, MODELS, Needs, reply_metrics
from parlai_empathy.scoring.systems import System, score_systems
from parlai_empathy.scoring.tokens import TOKENS
from parlai_empathy.scoring.word_metrics import Words
from parlai_empathy.scripts.parts.named_files import by_name

_MODELS = {
    "epitome": "of empathy:epitome, for the levels of empathy",
    "emotion": "of a classifier of emotions, for EmoAcc",
    "intent": "of a classifier of intents, for IntentAcc",
    "endex": "of a classifier that was trained on empathy:red, for engagingness",
    "fluency": "of a causal Hugging Face language model (a folder, or a name on the hub), for the replies' perplexity",
}


def add_metrics(parser: ParlaiParser) -> None:
    """Add the options that decide what is measured."""
    group = parser.add_argument_group("Metrics of replies")
    group.add_argument(
        "--metrics",
        nargs="+",
        choices=[ALL, *METRICS],
        default=[ALL],
        help="What is measured; all: everything for which there is what it needs.",
    )
    for name in MODELS:
        group.add_argument(f"--{name}-model", default=None, metavar="MODEL", help=f"Model {_MODELS[name]}.")
    group.add_argument(
        "--endex-context",
        type="bool",
        default=None,
        help="Show judges of engagingness the turns before a reply; left out, those whose training texts had them.",
    )
    group.add_argument(
        "--endex-score",
        choices=list(OUTPUTS),
        default="probability",
        help='What the engagingness of a reply is: how probable "engaging" is, or whether it is the most probable.',
    )
    group.add_argument(
        "--judges",
        nargs="*",
        default=[],
        metavar="[NAME=]FILE",
        help="More model files, of agents that score replies in their contexts, such as relevance.",
    )
    group.add_argument("--tokens", choices=list(TOKENS), default="re", help="How replies are cut into tokens.")
    group.add_argument("--lower-case", type="bool", default=False, help="Count words in lower case.")
    group.add_argument("--nidf", choices=list(KINDS), default="mean", help="Of a reply's words, which value it has.")


def response_report(title: str, systems: Sequence[System], opt: Opt) -> Report:
    """Score systems, and say what there is to say of them."""
    if opt["resamples"] < 1:
        raise OptionError(f"--resamples {opt['resamples']}: must be at least 1")
    if opt["seed"] < 0:
        raise OptionError(f"--seed {opt['seed']}: must be at least 0")
    ratings = by_question(ratings_of(opt["ratings"])) if opt.get("ratings") else None
    if ratings is not None:
        responses.check_rated(systems, ratings)  # better now than when everything has been scored
    metrics, left_out = reply_metrics(opt["metrics"], _needs(opt))
    for text in left_out:
        logging.info(f"left out: {text}")
    scores = score_systems(systems, metrics)
    if not any(one.scores for one in scores):
        raise OptionError(
            f"--metrics: nothing could be measured: {next(text for one in scores for text in one.missing)}"
        )
    tables = [
        responses.numbers_table(scores, left_out),
        responses.intervals_table(scores, opt["resamples"], opt["seed"]),
    ]
    if differences := responses.differences_table(scores, opt["resamples"], opt["seed"]):
        tables.append(differences)
    more, plots = responses.plots_of(
        responses.turns_table(scores), responses.ratings_table(scores, ratings) if ratings is not None else None
    )
    return Report(title, [*tables, *more], plots, responses.records(scores))


def _needs(opt: Opt) -> Needs:
    return Needs(
        Words(opt["tokens"], opt["lower_case"]),
        {name: opt[f"{name}_model"] for name in MODELS if opt.get(f"{name}_model")},
        by_name("--judges", opt["judges"], list(METRICS)),
        {name: opt[name] for name in ("datapath", "edition")},
        opt["nidf"],
        {"with_context": opt["endex_context"], "output": opt["endex_score"]},
    )
