"""The options that all judges have, and their defaults for ParlAI's own options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.agent_kit.options.common import add_precision, check_at_least, check_choices, check_fp16, flag
from parlai_empathy.agent_kit.options.presets import EVERY_EPOCH, set_defaults
from parlai_empathy.errors import OptionError
from parlai_empathy.modules.pretrained.hugging_face import longest_text

LOSSES = ("ce", "mse", "nnpu")
GROUP = "Judges"

_DEFAULTS: dict[str, Any] = EVERY_EPOCH | {
    "batchsize": 32,
    "gradient_clip": 1.0,
    "validation_metric": "loss",  # every judge reports it
    "use_reply": "none",  # the judge's own output is not part of the conversation that it judges
}


def add(parser: ParlaiParser) -> ParlaiParser:
    """Add the options, and set defaults of ParlAI's options."""
    group = parser.add_argument_group(GROUP)
    group.add_argument(
        "--classes",
        nargs="*",
        default=[],  # not None, which ParlAI cannot compare with the classes of an --init-model
        help="The classes. By default the training task's candidates, if they are the same for each example.",
    )
    group.add_argument(
        "--loss",
        choices=list(LOSSES),
        default="ce",
        help="ce: cross-entropy. mse: squared error of the rating, for classes that are numbers. nnpu: non-negative "
        "risk, for true replies against unlabelled ones.",
    )
    group.add_argument(
        "--prior",
        type=float,
        default=0.27,
        # 10,404 of the 14,250 ratings of HUMOD's random replies are 1 or 2; the rest count as positive.
        help="For --loss nnpu: the share of unlabelled replies that are positive (HUMOD's random ones: .27).",
    )
    group.add_argument(
        "--negatives",
        type=int,
        default=1,
        help="Wrong replies for each true one: the example's own candidates, then others of the batch.",
    )
    add_precision(group)
    set_defaults(parser, _DEFAULTS)
    return parser


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` for invalid values."""
    check_choices(opt, loss=LOSSES)
    if not 0 < opt["prior"] < 1:
        raise OptionError(f"--prior {opt['prior']}: must lie between 0 and 1")
    check_at_least(opt, 1, "negatives")
    classes = opt.get("classes") or []
    if len(classes) == 1 or len(set(classes)) < len(classes):
        raise OptionError(f"--classes {' '.join(classes)}: name at least two, each once")
    check_parlais(opt)


def check_parlais(opt: Opt) -> None:
    """Raise :class:`OptionError` for options of ParlAI that judges do not support."""
    check_fp16(opt, "judges")
    for name in ("dynamic_batching", "eval_dynamic_batching"):
        if opt.get(name) not in (None, "off"):
            raise OptionError(f"{flag(name)} {opt[name]}: judges do not support it; use --batchsize")
    if opt.get("num_workers"):
        # They would send texts alone: judges tokenize them once they know the whole batch.
        raise OptionError(f"--num-workers {opt['num_workers']}: judges do not support it; leave it out")
    for name in ("truncate", "text_truncate", "label_truncate"):
        if (opt.get(name) or 0) > 0:
            limits = [flag(own) for own in ("max_tokens", "max_words") if own in opt]
            remedy = f"use {limits[0]}" if limits else "leave it out"  # fastText reads whole texts
            raise OptionError(f"{flag(name)} {opt[name]}: judges do not support it; {remedy}")


def check_max_tokens(opt: Opt, config: Any, tokenizer: Any) -> None:
    """Raise :class:`OptionError` if ``--max-tokens`` exceeds the maximum length of a Hugging Face encoder.

    :param config: the encoder's.
    :param tokenizer: the encoder's.
    """
    if opt["max_tokens"] > (longest := longest_text(config, tokenizer)):
        raise OptionError(f"--max-tokens {opt['max_tokens']}: {opt['hf_model']} takes at most {longest:.0f}")


def check_loss(opt: Opt, values: Sequence[float] | None) -> None:
    """Raise :class:`OptionError` for a loss that does not suit the task.

    :param values: the classes as numbers; None if they are not numbers, or if replies are judged.
    """
    if opt["loss"] == "mse" and values is None:
        raise OptionError(
            "--loss mse: the task's classes must be numbers, such as the ratings of empathy:humod:Relevance"
        )
    if opt["loss"] == "nnpu" and opt["classes"]:
        raise OptionError(
            "--loss nnpu: the task must have replies to rank, such as empathy:humod:NextUtterance, not classes"
        )
