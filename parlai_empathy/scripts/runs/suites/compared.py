"""Helpers shared by the suites that compare models and logs of other systems' replies: ``ed`` and ``empgpt3``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from parlai.core.opt import Opt

from parlai_empathy.errors import ModelFileError, OptionError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.reports.evaluations.evaluations import Evaluations
from parlai_empathy.reports.evaluations.model_fingerprint import model_fingerprint
from parlai_empathy.scripts.parts import stopping
from parlai_empathy.scripts.parts.named_files import by_name

_OURS = {
    **dict.fromkeys(("-mf", "--model-file"), "name models with --models"),
    **dict.fromkeys(("-dt", "--datatype"), "use --fold"),
    **dict.fromkeys(("-t", "--task"), "leave it out"),
    **dict.fromkeys(("-dp", "--datapath"), "use --datapath, outside --eval-args"),
    "--edition": "use --edition, outside --eval-args",
    "--world-logs": "leave it out",
}
"""Options of ``eval_model`` that the leaderboard sets itself, and the advice if one occurs in ``--eval-args``."""


def check(opt: Opt) -> None:
    """Raise :class:`OptionError` if there is nothing to compare, or the fold is neither valid nor test."""
    if not (opt["models"] or opt["logs"]):
        raise OptionError(f"--suite {opt['suite']}: name models or logs to compare, with --models or --logs")
    if opt["fold"] not in ("valid", "test"):
        raise OptionError(f"--fold {opt['fold']}: --suite {opt['suite']} scores only valid or test")


def models_of(opt: Opt, taken: Sequence[str] = ()) -> dict[str, str]:
    """Return the files of ``--models`` by name; models and logs must not share names.

    :param taken: names that neither models nor logs may have.
    """
    return by_name("--models", opt["models"], (*taken, *by_name("--logs", opt["logs"], taken)))


def eval_options(opt: Opt) -> list[str]:
    """Return the arguments for ``eval_model``, from ``--edition`` and ``--eval-args``.

    :raises OptionError: if they cannot be parsed, or set an option that the leaderboard sets for all models.
    """
    try:
        more = shlex.split(opt["eval_args"])
    except ValueError as error:
        raise OptionError(f"--eval-args: {error}: quote it as on the command line") from error
    for word in more:
        name = word.partition("=")[0].replace("_", "-")
        if name in _OURS:
            raise OptionError(f"--eval-args {name}: the leaderboard sets it for all models: {_OURS[name]}")
    return ["--edition", opt["edition"], *more]  # overrides the edition saved with the model


def about(opt: Opt) -> str:
    """Return which part of the data the models are evaluated on, for titles."""
    return f"{opt['fold']} fold" + (f" of the {opt['edition']}" if opt["edition"] != "full" else "")


def options_note(options: Sequence[str]) -> str:
    """Return a note with the models' :func:`eval_options`: some change the numbers, and no signature has them all."""
    return f"- models were evaluated with: {shlex.join(options)}"


def evaluations(opt: Opt) -> Evaluations:
    """Return the cache of evaluations in ``--out``; without ``--out`` nothing is cached."""
    folder = user_path(opt["out"]) / "evaluations" if opt["out"] else None
    return Evaluations(folder, fingerprint=model_fingerprint)


def check_any(has_some: bool, failures: Sequence[str]) -> None:
    """Raise :class:`ModelFileError` if there is nothing to show: all models failed, and no log was named.

    :param failures: one line for each model.
    """
    if failures and not has_some:
        raise ModelFileError(failures[0] + (f"; all {len(failures)} failed" if failures[1:] else ""))


def stopped(opt: Opt) -> SystemExit:
    """Report that Ctrl-C interrupted the evaluations, and return the exception that ends the command."""
    return stopping.stopped("Run the same command again to resume." if opt["out"] else "")
