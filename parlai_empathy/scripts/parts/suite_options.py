"""The options of the suites of ``parlai leaderboard``; the suites themselves are in ``runs/suites``."""

from __future__ import annotations

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_empathy.errors import OptionError
from parlai_empathy.reports.leaderboards.names import REFERENCES, REPLY_TASKS
from parlai_empathy.scoring.names import MODELS
from parlai_empathy.scripts.parts.reply_options import add_metrics
from parlai_empathy.tasks.engagement.names import SETS
from parlai_empathy.tasks.humod.options import add_file_options
from parlai_empathy.tasks.humod.splits import SPLITS

_SAMPLES = ("resamples", "seed")
_LOGS = ("logs", "tokens", "lower_case")
_ENDEX = ("endex_context", "endex_score")

READ_BY = {
    "humod": ("fold", *_SAMPLES, "humod_file", "humod_split", "skip_bad_rows", "references"),
    "ed": ("fold", "eval_args", *_LOGS, "tasks"),
    "empgpt3": (
        *("fold", *_SAMPLES, "eval_args", *_LOGS, *_ENDEX),
        *("metrics", *(f"{name}_model" for name in MODELS), "judges", "nidf"),
    ),
    "endex": (*_SAMPLES, *_ENDEX, "sets"),
}
"""The options that each suite reads, in addition to ``--models``, ``--edition`` and ``--out``, which all read."""

_ONLY_FOR: dict[str, dict[str, tuple[str, ...]]] = {
    "models": {"ed": ("fold", "eval_args", "tasks", "edition"), "empgpt3": ("fold", "eval_args")},
    "logs": {"ed": ("tokens", "lower_case")},
}
"""The options that a suite reads only for ``--models``, or only for ``--logs``."""

_IN_PLACE_OF = {
    "task": "--suite and --tasks choose the data",
    "datatype": "use --fold",
    "batchsize": 'use --eval-args="--batchsize N"',
}
"""ParlAI's options that no suite reads, each with what to do instead."""


def check_typed(opt: Opt) -> None:
    """Raise :class:`OptionError` if the command line has an option that ``--suite`` ignores."""
    suite = opt["suite"]
    for option in opt["override"]:
        if option in _IN_PLACE_OF:
            raise OptionError(f"--{option}: not used by this command: {_IN_PLACE_OF[option]}")
        readers = [name for name, options in READ_BY.items() if option in options]
        if readers and suite not in readers:
            typed = option.replace("_", "-")
            raise OptionError(f"--{typed}: --suite {suite} does not use it, only {', '.join(readers)}: leave it out")
        _check_purpose(option, opt)


def _check_purpose(option: str, opt: Opt) -> None:
    """Raise :class:`OptionError` if the suite reads an option only for models or logs, and only the others are named.

    If nothing is named, the suite says so.
    """
    for purpose, options in _ONLY_FOR.items():
        is_missing = not opt.get(purpose) and any(opt.get(other) for other in _ONLY_FOR)
        if is_missing and option in options.get(opt["suite"], ()):
            typed = option.replace("_", "-")
            raise OptionError(f"--{typed}: --suite {opt['suite']} uses it only for --{purpose}: leave it out")


def add_suites(parser: ParlaiParser) -> None:
    """Add the options of each suite, and let the help of every option of the parser name the suites that read it."""
    _add_data(parser)
    _add_compared(parser)
    add_metrics(parser)
    for action in parser._actions:
        if readers := [suite for suite, options in READ_BY.items() if action.dest in options]:
            action.help = f"{(action.help or '').removesuffix('.')} (suites: {', '.join(readers)})."


def _add_data(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Data")
    add_file_options(group)
    group.add_argument("--humod-split", choices=list(SPLITS), default="paper", help="As for -t empathy:humod.")
    group.add_argument(
        "--references",
        choices=list(REFERENCES),
        default="human",
        help="References for word overlap: the human replies to the context, its original reply, or all.",
    )
    group.add_argument(
        "--tasks",
        nargs="+",
        choices=list(REPLY_TASKS),
        default=["ed"],
        help="Data sets: EmpatheticDialogues, DailyDialog, Reddit.",
    )
    group.add_argument(
        "--sets",
        nargs="+",
        choices=SETS,
        default=[],
        help="Rated sets to use; by default, all that are available.",
    )


def _add_compared(parser: ParlaiParser) -> None:
    group = parser.add_argument_group("Replies")
    group.add_argument(
        "--eval-args",
        default="",
        metavar="OPTIONS",
        help='More options of eval_model, for all models, as one string: --eval-args="--inference beam".',
    )
    group.add_argument(
        "--logs",
        nargs="*",
        default=[],
        metavar="[NAME=]FILE",
        help="Logs of replies from any system, optionally as NAME=FILE.",
    )
