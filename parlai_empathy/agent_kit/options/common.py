"""Options that several agents have, and checks of their values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError
from parlai_empathy.modules.speed.precision import CHOICES as PRECISIONS

TRUNCATIONS = ("oldest", "newest")


def flag(name: str) -> str:
    """Return an option's name as typed on the command line."""
    return "--" + name.replace("_", "-")


def check_choices(opt: Opt, **choices: Collection[object]) -> None:
    """Raise :class:`OptionError` for a value that is not one of its option's choices.

    ParlAI checks values on the command line, but not those appended to a task's name or passed from Python.
    """
    for name, known in choices.items():
        if opt[name] not in known:
            raise OptionError(f"{flag(name)} {opt[name]}: must be one of {', '.join(map(str, known))}")


def check_at_least(opt: Opt, least: int, *names: str) -> None:
    """Raise :class:`OptionError` for options below their minimum, or NaN."""
    for name in names:
        if not opt[name] >= least:
            raise OptionError(f"{flag(name)} {opt[name]}: must be at least {least}")


def check_unused(opt: Opt, names: Collection[str], reason: str) -> None:
    """Raise :class:`OptionError` for options given explicitly that would have no effect.

    :param reason: why they have none, and what to do.
    """
    typed = opt.get("override") or {}
    # An option file may be the .opt of a trained model, which has the values of all options.
    in_file = Opt.load_init(typed["init_opt"]) if typed.get("init_opt") else {}
    for name in names:
        if typed.get(name) is not None and typed[name] != in_file.get(name):
            raise OptionError(f"{flag(name)} {typed[name]}: {reason}")


def add_precision(group: Any) -> None:
    """Add ``--precision`` to an option group: see :mod:`parlai_empathy.modules.speed.precision`."""
    group.add_argument(
        "--precision",
        choices=list(PRECISIONS),
        default="auto",
        help="Number format for computing; auto: bfloat16 if the processor multiplies it faster (CPUs with AMX, AMD's "
        "since Zen 4, GPUs since Ampere), else float32.",
    )


def check_fp16(opt: Opt, whose: str) -> None:
    """Raise :class:`OptionError` for ParlAI's ``--fp16``, which needs loss scaling; bfloat16 does not.

    :param whose: the kind of agent that does not support it, in the plural.
    """
    if opt.get("fp16"):
        raise OptionError(f"--fp16 true: {whose} do not support it; --precision bfloat16 is as fast")


def add_vectors_file(group: Any) -> None:
    """Add ``--vectors-file``."""
    group.add_argument(
        "--vectors-file",
        default=None,
        help="Text file of pretrained word vectors (GloVe, fastText), with --embedding-size numbers per word.",
    )


def add_truncate_context(group: Any) -> None:
    """Add ``--truncate-context``: see :func:`cut_context`."""
    group.add_argument(
        "--truncate-context",
        choices=list(TRUNCATIONS),
        default="oldest",
        help="Which words a context loses if it is longer than --text-truncate; the paper's code drops the newest.",
    )


def apply_truncate(opt: Opt) -> None:
    """Apply ``--truncate`` to the lengths not given explicitly, as ParlAI's help says; here they have defaults."""
    typed = opt.get("override") or {}
    if (typed.get("truncate") or 0) > 0:
        for name in ("text_truncate", "label_truncate"):
            if name not in typed:
                opt[name] = typed["truncate"]


def cut_context(obs: Message, opt: Opt, truncate: int | None, unknown: int) -> None:
    """Truncate a context's token ids as ``--truncate-context`` says, and keep at least one token.

    :param obs: an observation whose ``text_vec`` ParlAI has made and truncated, dropping the oldest tokens.
    :param unknown: the token id that represents an empty context.
    """
    if opt["truncate_context"] == "newest" and obs.get("full_text_vec") is not None:
        obs.force_set("text_vec", torch.LongTensor(obs["full_text_vec"][:truncate]))
    if "text" in obs and (obs.get("text_vec") is None or len(obs["text_vec"]) == 0):
        obs.force_set("text_vec", torch.LongTensor([unknown]))


def check_sizes(opt: Opt) -> None:
    """Raise :class:`OptionError` for sizes that do not make a valid Transformer, or one too short for the texts."""
    for name in ("embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions"):
        if (opt[name] or 0) < 1:
            raise OptionError(f"{flag(name)} {opt[name]}: must be at least 1")
    if opt["embedding_size"] % opt["n_heads"]:
        raise OptionError(f"--n-heads {opt['n_heads']}: must divide --embedding-size {opt['embedding_size']}")
    if not 0 <= opt["dropout"] <= 1:
        raise OptionError(f"--dropout {opt['dropout']}: must lie between 0 and 1")
    for name in ("text_truncate", "label_truncate"):
        if not 0 < (opt.get(name) or 0) <= opt["n_positions"]:
            raise OptionError(
                f"{flag(name)} {opt.get(name)}: must lie between 1 and --n-positions {opt['n_positions']}"
            )
