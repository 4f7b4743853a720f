"""Options of the metrics of replies, for ``parlai score_responses`` and ``parlai leaderboard``."""

from __future__ import annotations

from parlai.core.params import ParlaiParser

from parlai_empathy.metrics.nidf import KINDS
from parlai_empathy.metrics.tokens import TOKENS
from parlai_empathy.scoring.names import ALL, MODELS, OUTPUTS, REPLY_METRICS

_MODELS = {
    "epitome": "Model file of empathy:epitome, for the levels of empathy.",
    "emotion": "Model file of an emotion classifier, for EmoAcc.",
    "intent": "Model file of an intent classifier, for IntentAcc.",
    "endex": "Model file of a classifier trained on empathy:red, for engagingness.",
    "fluency": "A causal Hugging Face language model (a folder, or a name on the hub), for the replies' perplexity.",
}


def add_metrics(parser: ParlaiParser) -> None:
    """Add the options that choose and configure metrics."""
    group = parser.add_argument_group("Metrics of replies")
    group.add_argument(
        "--metrics",
        nargs="+",
        choices=[ALL, *REPLY_METRICS],
        default=[ALL],
        help="What to measure; all: every metric whose needs are met.",
    )
    for name in MODELS:
        group.add_argument(f"--{name}-model", default=None, metavar="MODEL", help=_MODELS[name])
    group.add_argument(
        "--endex-context",
        type="bool",
        default=None,
        help="Whether judges of engagingness read the turns before a reply; by default, as in their training.",
    )
    group.add_argument(
        "--endex-score",
        choices=list(OUTPUTS),
        default="probability",
        help='Engagingness of a reply: the probability of "engaging", or 1 if that is the most probable class, else 0.',
    )
    group.add_argument(
        "--judges",
        nargs="*",
        default=[],
        metavar="[NAME=]FILE",
        help="Further model files, of agents that score replies in their contexts, such as judges of relevance.",
    )
    group.add_argument(
        "--tokens",
        choices=list(TOKENS),
        default="re",
        help="How replies are tokenized: re separates words and punctuation; space splits at spaces.",
    )
    group.add_argument("--lower-case", type="bool", default=False, help="Count words in lower case.")
    group.add_argument(
        "--nidf", choices=list(KINDS), default="mean", help="NIDF of a reply: the mean or the maximum over its words."
    )
