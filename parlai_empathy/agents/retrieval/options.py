"""The options of ``empathy:retrieval``, and what it recommends for ParlAI's own.

Two presets: ``default``, what we would use today, and ``paper``, what Rashkin et al. (2019) did. A value given on the
command line beats both.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError

# Optimiser, rate, lengths and negatives as in the paper; no clipping and no schedule there either.
_BOTH: dict[str, Any] = {
    "optimizer": "adamax",
    "learningrate": 8e-4,
    "lr_scheduler": "none",
    "gradient_clip": -1.0,
    "candidates": "batch",
    "eval_candidates": "inline",
    "history_size": 4,
    "text_truncate": 100,
    "label_truncate": 100,
    "num_epochs": 10.0,
    "validation_every_n_epochs": 1.0,
    "save_after_valid": True,  # so that a killed run goes on from the last epoch
    "save_every_n_secs": 600.0,
}

PRESETS: dict[str, dict[str, Any]] = {
    # From random weights, cosines over a temperature learn faster than the paper's plain dot products, which start very
    # large (docs/results.md). Smaller batches, dropout and lower-casing are meant for a training without the paper's
    # 1.7 billion Reddit pairs before it. A long context loses its oldest words. The best epoch is the one with the best
    # mean reciprocal rank, which is steadier than hits@1 on a small fold.
    "default": {
        "batchsize": 128,
        "dropout": 0.1,
        "score": "cosine",
        "dict_lower": True,
        "truncate_context": "oldest",
        "validation_metric": "mrr",
    },
    # ParlAI calls a minimised metric "solved" below its cut-off of 1: 0 keeps it from stopping early.
    "paper": {
        "batchsize": 512,
        "dropout": 0.0,
        "score": "dot",
        "dict_lower": False,
        "truncate_context": "newest",
        "validation_metric": "loss",
        "validation_cutoff": 0.0,
    },
}


def add(parser: ParlaiParser, partial_opt: Mapping[str, Any]) -> ParlaiParser:
    """Add the options, and set the preset's defaults."""
    group = parser.add_argument_group("Retrieval (empathy:retrieval)")
    in_chat = bool(partial_opt.get("interactive_mode"))
    group.add_argument(
        "--preset",
        action=_Preset,
        in_chat=in_chat,
        choices=list(PRESETS),
        default="default",
        help="Default values: ours, or those of the EmpatheticDialogues paper.",
    )
    group.add_argument("--embedding-size", type=int, default=300, help="Size of word and text vectors.")
    group.add_argument(
        "--n-layers", type=int, default=4, help="Transformer layers of each tower (the paper's Large: 5)."
    )
    group.add_argument("--n-heads", type=int, default=6, help="Attention heads; must divide the embedding size.")
    group.add_argument("--ffn-size", type=int, default=1200, help="Hidden units of the feed-forward layers.")
    group.add_argument("--dropout", type=float, default=0.1, help="Dropout in the towers, 0..1.")
    group.add_argument(
        "--score",
        choices=["cosine", "dot"],
        default="cosine",
        help="Of context and reply: cosine over --temperature, or plain dot product as in the paper.",
    )
    group.add_argument("--temperature", type=float, default=0.1, help="Divides the cosine; smaller is sharper.")
    group.add_argument(
        "--n-positions", type=int, default=1000, help="Longest text that the towers can take, in tokens."
    )
    group.add_argument(
        "--vectors-file",
        default=None,
        help="Text file of word vectors (GloVe, fastText) to begin with; as many numbers a word as --embedding-size.",
    )
    group.add_argument(
        "--truncate-context",
        choices=["oldest", "newest"],
        default="oldest",
        help="Which end a context loses if it is longer than --text-truncate; the paper's code drops the newest words.",
    )
    group.add_argument(
        "--pool-max-tokens",
        type=int,
        default=20,
        help="Longest reply in the pool of training replies (the paper's 20); -1 for no limit.",
    )
    _set_defaults(parser, partial_opt.get("preset") or "default", in_chat)
    return parser


class _Preset(argparse._StoreAction):  # a "store" to ParlAI, which refuses kinds of options that it does not know
    """Sets the preset's defaults where ``--preset`` is met.

    ParlAI asks an agent for its options before it knows their values, so :func:`add` cannot see the preset. Then it
    parses the command line with the agent's options, which is when the defaults change, and once more to use them.
    """

    def __init__(self, *args: Any, in_chat: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.in_chat = in_chat

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        super().__call__(parser, namespace, values, option_string)
        _set_defaults(parser, values, self.in_chat)


def _set_defaults(parser: ParlaiParser, preset: str, in_chat: bool) -> None:
    defaults = _BOTH | PRESETS.get(preset, {})
    if in_chat:
        defaults = {name: value for name, value in defaults.items() if name != "batchsize"}  # a chat is a batch of one
    # The training loop's options exist in train_model alone.
    known = {action.dest for action in parser._actions}
    parser.set_defaults(**{name: value for name, value in defaults.items() if name in known})


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for values that cannot work together."""
    for name in ("embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions"):
        if opt[name] < 1:
            raise OptionError(f"{_flag(name)} {opt[name]}: must be at least 1")
    if opt["embedding_size"] % opt["n_heads"]:
        raise OptionError(f"--n-heads {opt['n_heads']}: must divide --embedding-size {opt['embedding_size']}")
    if not 0 <= opt["dropout"] <= 1:
        raise OptionError(f"--dropout {opt['dropout']}: must lie between 0 and 1")
    if not opt["temperature"] > 0:
        raise OptionError(f"--temperature {opt['temperature']}: must be above 0")
    for name in ("text_truncate", "label_truncate"):
        if not 0 < (opt.get(name) or 0) <= opt["n_positions"]:
            raise OptionError(
                f"{_flag(name)} {opt.get(name)}: must lie between 1 and --n-positions {opt['n_positions']}"
            )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
