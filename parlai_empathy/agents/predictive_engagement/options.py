"""The options of ``empathy:predictive_engagement``, and its defaults for ParlAI's own options.

The values are those of the authors' code (Ghazarian et al. 2020). The two presets differ only in the encoder:
``paper`` uses the second-to-last layer of BERT, as does the service that computed their vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import check_at_least, check_choices
from parlai_empathy.agent_kit.options.presets import add_preset, set_first_defaults
from parlai_empathy.agents.predictive_engagement.network import POOLINGS
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.pretrained.hugging_face import MINILM

QUERIES = ("last", "all")

_COMMON: dict[str, Any] = {
    "optimizer": "adam",
    "learningrate": 1e-3,
    "weight_decay": 1e-3,
    "lr_scheduler": "none",
    "batchsize": 100,
    "num_epochs": 400.0,
    "validation_patience": 50,
    # The authors use the area under the ROC curve of the predicted classes, which also weighs both classes equally.
    "validation_metric": "macro_f1",
    "precision": "float32",  # vectors are computed only once, so lower precision gains nothing
}

PRESETS: dict[str, dict[str, Any]] = {
    "default": _COMMON | {"hf_model": MINILM, "layer": -1},
    "paper": _COMMON | {"hf_model": "bert-base-uncased", "layer": -2},
}


def add(parser: ParlaiParser, partial_opt: Mapping[str, Any]) -> ParlaiParser:
    """Add the options, and set the preset's defaults."""
    group = parser.add_argument_group("Predictive Engagement (empathy:predictive_engagement)")
    add_preset(group, PRESETS, "Predictive Engagement's authors")
    group.add_argument(
        "--hf-model",
        default=MINILM,
        help="Folder of a Hugging Face encoder, or its name on the hub. It stays frozen.",
    )
    group.add_argument(
        "--pooling", choices=list(POOLINGS), default="mean", help="How token states are pooled into a text's vector."
    )
    group.add_argument(
        "--layer", type=int, default=-1, help="Layer whose states are used, counted from the end: -1 is the last."
    )
    group.add_argument(
        "--max-tokens",
        type=int,
        default=128,
        help="Maximum tokens of a text, special ones included; the rest is not read.",
    )
    group.add_argument(
        "--query",
        choices=list(QUERIES),
        default="last",
        help="The query read with a reply: the last turn before it, as in the authors' code, or all turns as one text.",
    )
    group.add_argument(
        "--hidden-sizes",
        nargs="+",
        type=int,
        default=[64, 32, 8],
        help="Units of the hidden layers, one number per layer.",
    )
    group.add_argument("--dropout", type=float, default=0.8, help="Dropout after each layer, 0..1.")
    group.add_argument(
        "--balance", type="bool", default=True, help="Give all classes of a batch equal weight in the loss."
    )
    set_first_defaults(parser, partial_opt)
    return parser


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values."""
    check_choices(opt, preset=PRESETS, pooling=POOLINGS, query=QUERIES)
    if opt["layer"] > -1:
        raise OptionError(f"--layer {opt['layer']}: layers are counted from the end: -1 is the last one")
    check_at_least(opt, 4, "max_tokens")
    if not opt["hidden_sizes"] or min(opt["hidden_sizes"]) < 1:
        sizes = " ".join(map(str, opt["hidden_sizes"]))
        raise OptionError(f"--hidden-sizes {sizes}: name at least one layer, each of at least 1 unit")
    if not 0 <= opt["dropout"] < 1:
        raise OptionError(f"--dropout {opt['dropout']}: must be at least 0 and below 1")
