"""What the suites of replies share: models that are evaluated, and logs of replies that other systems wrote."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from parlai.core.opt import Opt

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.reports.evaluations import Evaluations
from parlai_empathy.scripts.parts import stopping
from parlai_empathy.scripts.parts.named_files import by_name

_OURS = {
    **dict.fromkeys(("-mf", "--model-file"), "name models with --models"),
    **dict.fromkeys(("-dt", "--datatype"), "take --fold"),
    **dict.fromkeys(("-t", "--task"), "leave it out"),
    **dict.fromkeys(("-dp", "--datapath"), "take --datapath beside --eval-args"),
    "--edition": "take --edition beside --eval-args",
    "--world-logs": "leave it out",
}
"""Options of ``eval_model`` that are given to it, and what to do in place of typing them in ``--eval-args``."""


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` if there is nothing to compare, or no fold to compare it on."""
    if not (opt["models"] or opt["logs"]):
        raise OptionError(f"--suite {opt['suite']}: name what is to be compared with --models or --logs")
    if opt["fold"] not in ("valid", "test"):
        raise OptionError(f"--fold {opt['fold']}: --suite {opt['suite']} scores valid or test")


def models_of(opt: Opt, taken: Sequence[str] = ()) -> dict[str, str]:
    """The files of ``--models`` by name; none may be called as a log is.

    :param taken: names that neither models nor logs may have.
    """
    return by_name("--models", opt["models"], (*taken, *by_name("--logs", opt["logs"], taken)))


def eval_options(opt: Opt) -> list[str]:
    """The options of ``eval_model``, as they are typed.

    :raises OptionError: if they cannot be read, or if one of them would measure something else than the report says.
    """
    try:
        more = shlex.split(opt["eval_args"])
    except ValueError as error:
        raise OptionError(f"--eval-args: {error}: write it as on the command line") from error
    for word in more:
        name = word.partition("=")[0].replace("_", "-")
        if name in _OURS:
            raise OptionError(f"--eval-args {name}: the leaderboard decides it for all its models: {_OURS[name]}")
    return ["--edition", opt["edition"], *more]  # a saved model remembers another, of its training


def evaluations(opt: Opt) -> Evaluations:
    """What remembers evaluations below ``--out``, or forgets them without it."""
    return Evaluations(Path(opt["out"]).expanduser() / "evaluations" if opt["out"] else None)


def check_any(has_some: bool, failures: Sequence[str]) -> None:
    """Raise :class:`ModelFileError` if there is nothing to show: all models failed, and no log was named.

    :param failures: one line for each model.
    """
    if failures and not has_some:
        raise ModelFileError(failures[0] + (f"; all {len(failures)} failed" if failures[1:] else ""))


def stopped(opt: Opt) -> SystemExit:
    """The end of a command that somebody interrupts while models are evaluated."""
    return stopping.stopped("The same command goes on where this one ended." if opt["out"] else "")
