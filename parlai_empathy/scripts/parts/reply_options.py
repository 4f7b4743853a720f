"""Options that decide what is measured of replies. Two commands share them."""

from __future__ import annotations

from parlai.core.params import ParlaiParser

from parlai_empathy.metrics.nidf import KINDS
from parlai_empathy.scoring.names import ALL, MODELS, OUTPUTS, REPLY_METRICS
from parlai_empathy.scoring.tokens import TOKENS

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
        choices=[ALL, *REPLY_METRICS],
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
