"""The options of ``empathy:reddit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.edition import add_edition
from parlai_empathy.task_kit.history import DEFAULT, check_history
from parlai_empathy.tasks.reddit.reader import Limits

# Each with its default, its minimum, and its help.
_NUMBERS = {
    "window": (1_000_000, 1, "Number of latest posts of the dumps in which a comment's parent is looked up."),
    "min_words": (2, 1, "Leave out replies with fewer words."),
    "max_words": (100, 1, "Leave out replies with more words, and truncate the context's turns to this many."),
    "buffer": (10_000, 1, "In training, shuffle pairs within a buffer of this size."),
    "eval_size": (5_000, 1, "Number of pairs in valid and in test: the first ones of their folds."),
    "epoch_size": (
        0,
        0,
        "Number of training pairs to call an epoch, without counting all; 0 counts them, once for each set of dumps.",
    ),
}


def add(parser: ParlaiParser) -> None:
    """Add the options to ParlAI's parser."""
    group = parser.add_argument_group("Reddit")
    add_edition(group)
    group.add_argument(
        "--reddit-file",
        default=None,
        help="Read this dump (.zst, .bz2, .gz, .xz or JSON lines), several (a,b), or a folder of them, "
        "instead of an edition.",
    )
    group.add_argument(
        "--reddit-history",
        type=int,
        default=DEFAULT,
        help="How many turns before the reply the text holds, as far as the window has them; -1 for all.",
    )
    for name, (default, _, meaning) in _NUMBERS.items():
        group.add_argument(f"--reddit-{name.replace('_', '-')}", type=int, default=default, help=meaning)


def number(opt: Mapping[str, Any], name: str) -> int:
    """Return the value of a numeric option. Raises :class:`OptionError` if it is invalid."""
    default, least, _ = _NUMBERS[name]
    value = opt.get(f"reddit_{name}", default)
    if not isinstance(value, int) or value < least:
        raise OptionError(f"--reddit-{name.replace('_', '-')} {value}: must be a whole number, at least {least}")
    return value


def limits(opt: Mapping[str, Any]) -> Limits:
    """Return the reader's limits. Raises :class:`OptionError` for invalid numbers."""
    found = Limits(
        window=number(opt, "window"),
        min_words=number(opt, "min_words"),
        max_words=number(opt, "max_words"),
        history=check_history("--reddit-history", opt.get("reddit_history", DEFAULT)),
    )
    if found.min_words > found.max_words:
        raise OptionError(
            f"--reddit-min-words {found.min_words}: must not be more than --reddit-max-words {found.max_words}"
        )
    return found
