"""Options of a training that ParlAI takes, and with which it would end half-way or never: one clear line for each."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import math
from collections.abc import Collection, Mapping
from typing import Any

from parlai_empathy.errors import MissingDependencyError, OptionError

_NOT_MEASURED = {"train_time", "parleys", "train_steps", "total_exs", "total_epochs"}  # beside a validation's numbers


def refuse_what_cannot_train(train_model: Any) -> None:
    """Look at the options before a training begins; so may an agent, by a method ``check_training``."""
    begin = train_model.TrainLoop.__init__

    @functools.wraps(begin)
    def __init__(self: Any, opt: Any) -> None:
        _check(opt)
        begin(self, opt)
        if hasattr(self.agent, "check_training"):
            self.agent.check_training()

    train_model.TrainLoop.__init__ = __init__


def name_missing_metric(train_model: Any) -> None:
    """A first validation that does not measure ``--validation-metric``: keep what was learnt, and say what it does."""
    validate = train_model.TrainLoop.validate

    @functools.wraps(validate)
    def validate_or_name(self: Any) -> bool:
        before = len(self.valid_reports)
        try:
            return bool(validate(self))
        except KeyError as error:
            metric, measured = self.opt["validation_metric"], self.valid_reports[before:]
            if error.args != (metric,) or not measured or metric in measured[0]:
                raise
            raise OptionError(_no_such_metric(metric, set(measured[0]) - _NOT_MEASURED, _kept(self))) from error

    train_model.TrainLoop.validate = validate_or_name


def _check(opt: Mapping[str, Any]) -> None:
    """Raise an error for a value with which nothing would be learnt, and for a library that is missing."""
    if opt.get("batchsize", 1) < 1:
        raise OptionError(f"--batchsize {opt['batchsize']}: must be at least 1")
    rate = opt.get("learningrate", 1.0)
    if not (math.isfinite(rate) and rate >= 0):
        raise OptionError(f"--learningrate {rate}: must be a number of at least 0")
    if opt.get("tensorboard_log") and importlib.util.find_spec("tensorboardX") is None:
        raise MissingDependencyError('--tensorboard-log needs tensorboardX: pip install "parlai-empathy[tensorboard]"')


def _kept(loop: Any) -> str:
    """Save where a training stands; returns what to say of it."""
    if not loop.opt.get("model_file"):
        return "nothing is kept without --model-file"
    loop.save_model(".checkpoint")
    return "what was learnt is kept: the same command with another metric goes on from there"


def _no_such_metric(metric: str, measured: Collection[str], kept: str) -> str:
    close = difflib.get_close_matches(metric, sorted(measured), n=1)
    there = f"did you mean {close[0]}?" if close else f"it measures {', '.join(sorted(measured))};"
    return f"--validation-metric {metric}: the validation does not measure it; {there} {kept}"
