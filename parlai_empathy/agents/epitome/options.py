"""The options of ``empathy:epitome``, and its defaults for ParlAI's own options.

There are two presets: ``default``, what we would use today, and ``paper``, what Sharma et al. (2020) used. A value on
the command line overrides both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.judging.options import check_parlais
from parlai_empathy.agent_kit.options.common import add_precision, check_at_least, check_choices
from parlai_empathy.agent_kit.options.presets import EVERY_EPOCH, add_preset, set_first_defaults
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.encoders.pair_encoder import POOLINGS
from parlai_empathy.modules.pretrained.hugging_face import MINILM
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS

RESPONDERS = ("shared", "apart")

_COMMON: dict[str, Any] = EVERY_EPOCH | {
    "batchsize": 32,
    "optimizer": "adamw",
    "lr_scheduler": "linear",
    "gradient_clip": 1.0,
    "use_reply": "none",  # the judge's own output is not part of the conversation that it judges
    "validation_metric": "macro_f1",
}

PRESETS: dict[str, dict[str, Any]] = {
    "default": _COMMON
    | {
        "hf_model": MINILM,
        "responders": "shared",
        "pooling": "mean",
        "max_tokens": 64,
        "learningrate": 3e-4,
        "warmup_updates": 60,
        "num_epochs": 8.0,
    },
    # The paper uses Hugging Face's AdamW, whose default weight decay is 0.
    "paper": _COMMON
    | {
        "hf_model": "roberta-base",
        "responders": "apart",
        "pooling": "first",
        "max_tokens": 64,
        "learningrate": 2e-5,
        "warmup_updates": -1,
        "num_epochs": 4.0,
    },
}


def add(parser: ParlaiParser, partial_opt: Mapping[str, Any]) -> ParlaiParser:
    """Add the options, and set the preset's defaults."""
    group = parser.add_argument_group("EPITOME (empathy:epitome)")
    add_preset(group, PRESETS, "the EPITOME paper")
    group.add_argument(
        "--mechanisms",
        nargs="*",
        default=[],
        help=f"Mechanisms to judge, of {', '.join(MECHANISMS)}. By default those of the training task.",
    )
    _add_of_model(group)
    group.add_argument(
        "--rationale-weight",
        type=float,
        default=0.5,
        help="Weight of the rationales' loss, relative to that of the levels.",
    )
    add_precision(group)
    set_first_defaults(parser, partial_opt)
    return parser


def _add_of_model(group: Any) -> None:
    group.add_argument("--hf-model", default=MINILM, help="Folder of a Hugging Face encoder, or its name on the hub.")
    group.add_argument(
        "--responders",
        choices=list(RESPONDERS),
        default="shared",
        help="Encoders of responses. shared: one for all mechanisms. apart: one for each, as in the paper.",
    )
    group.add_argument(
        "--pooling",
        choices=list(POOLINGS),
        default="mean",
        help="What the level is predicted from: the mean of the response's tokens, or its first token "
        "(as in the paper).",
    )
    group.add_argument(
        "--max-tokens",
        type=int,
        default=64,
        help="Maximum tokens of a post, and of a response, special ones included.",
    )
    group.add_argument("--dropout", type=float, default=0.1, help="Dropout of the attention and the heads, 0..1.")
    group.add_argument(
        "--attend-padding",
        type="bool",
        default=False,
        help="Pad each text to --max-tokens, and let the attention see the padding, as the paper's code does.",
    )


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values."""
    check_choices(opt, preset=PRESETS, responders=RESPONDERS, pooling=POOLINGS)
    names = opt.get("mechanisms") or []
    if len(set(names)) < len(names) or not set(names) <= set(MECHANISMS):
        raise OptionError(f"--mechanisms {' '.join(names)}: name some of {', '.join(MECHANISMS)}, each once")
    check_at_least(opt, 4, "max_tokens")
    if not 0 <= opt["dropout"] < 1:
        raise OptionError(f"--dropout {opt['dropout']}: must be at least 0 and below 1")
    if not 0 <= opt["rationale_weight"] < math.inf:
        raise OptionError(f"--rationale-weight {opt['rationale_weight']}: must be at least 0")
    check_parlais(opt)
