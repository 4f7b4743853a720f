"""One clear line for each training option that ParlAI accepts but with which it would fail half-way or never end."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import math
import os
from collections.abc import Collection, Mapping
from typing import Any

from parlai_empathy.errors import MissingDependencyError, OptionError, one_line
from parlai_empathy.repairs.output_folders import check_folder

# Optimizers of torch that ParlAI lists, though its steps do not give them what they need: a function that computes the
# loss anew, sparse gradients of all weights, or, for their common base class, an implementation.
_UNUSABLE = {"lbfgs", "sparseadam", "optimizer"}

# Counters in a validation's report.
_NOT_MEASURED = {"train_time", "parleys", "train_steps", "total_exs", "total_epochs"}


def check_training_options(train_model: Any) -> None:
    """Check the options before a training begins; an agent may add checks in a method ``check_training``."""
    begin = train_model.TrainLoop.__init__

    @functools.wraps(begin)
    def __init__(self: Any, opt: Any) -> None:
        _check(opt)
        begin(self, opt)
        if hasattr(self.agent, "check_training"):
            self.agent.check_training()

    train_model.TrainLoop.__init__ = __init__


def report_unfit_optimizer(torch_agent: Any) -> None:
    """Report an optimizer that does not take the model's weights or one of the options, such as ``--weight-decay``."""
    begin = torch_agent.TorchAgent.init_optim

    @functools.wraps(begin)
    def init_optim(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return begin(self, *args, **kwargs)
        except (TypeError, ValueError) as error:
            raise OptionError(_unfit(self.opt["optimizer"], f"{one_line(error)}; change its options, or")) from error

    torch_agent.TorchAgent.init_optim = init_optim


def report_missing_length(lr_scheduler: Any) -> None:
    """Check that a schedule that ends at the training's last step knows which that is."""
    scheduler = lr_scheduler.ParlAILRScheduler
    make = scheduler.lr_scheduler_factory.__func__

    @functools.wraps(make)
    def lr_scheduler_factory(cls: Any, opt: Any, *args: Any, **kwargs: Any) -> Any:
        name = opt.get("lr_scheduler")
        if name in ("cosine", "linear") and opt.get("max_train_steps", -1) <= 0:
            raise OptionError(f"--lr-scheduler {name}: the rate falls to 0 at the last step: set --max-train-steps")
        return make(cls, opt, *args, **kwargs)

    scheduler.lr_scheduler_factory = classmethod(lr_scheduler_factory)


def report_missing_metric(train_model: Any) -> None:
    """Save a checkpoint if the first validation lacks ``--validation-metric``, and list the metrics that it has."""
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
    """Raise an error for a value with which training cannot work, or for a missing library."""
    if opt.get("batchsize", 1) < 1:
        raise OptionError(f"--batchsize {opt['batchsize']}: must be at least 1")
    rate = opt.get("learningrate", 1.0)
    if not (math.isfinite(rate) and rate >= 0):
        raise OptionError(f"--learningrate {rate}: must be a number of at least 0")
    if opt.get("optimizer") in _UNUSABLE:
        raise OptionError(_unfit(opt["optimizer"], "ParlAI cannot train with it;"))
    if opt.get("tensorboard_log") and importlib.util.find_spec("tensorboardX") is None:
        raise MissingDependencyError('--tensorboard-log needs tensorboardX: pip install "parlai-empathy[tensorboard]"')
    if not (opt.get("model_file") or opt.get("dict_file")):
        raise OptionError("--model-file is missing: name the file to save the model in, such as -mf model/first")
    if model_file := opt.get("model_file"):
        if os.path.isdir(model_file):
            raise OptionError(f"--model-file {model_file} is a folder: name a file in it, such as {model_file}/model")
        check_folder("--model-file", model_file)


def _unfit(optimizer: str, reason: str) -> str:
    return f"--optimizer {optimizer}: {reason} name another, such as adamw"


def _kept(loop: Any) -> str:
    """Save a checkpoint; return the sentence that says so."""
    if not loop.opt.get("model_file"):
        return "nothing is saved without --model-file"
    loop.save_model(".checkpoint")
    return "a checkpoint is saved: the same command with another metric resumes from it"


def _no_such_metric(metric: str, measured: Collection[str], kept: str) -> str:
    close = difflib.get_close_matches(metric, sorted(measured), n=1)
    there = f"did you mean {close[0]}?" if close else f"it measures {', '.join(sorted(measured))};"
    return f"--validation-metric {metric}: the validation does not measure it; {there} {kept}"
