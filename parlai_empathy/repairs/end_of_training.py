"""The end of a training, and going on from there. ParlAI forgets the best model when it resumes, resumes from an old
checkpoint although the model is newer, draws the first examples once more, trains on after a finished training, and
does not validate the last steps.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any


def keep_best_model(train_model: Any) -> None:
    """Keep the best model when a resumed training finds no better one; ParlAI would overwrite it with the last one, and
    always evaluate the last one. Also keep the count of steps if ``--update-freq`` changes or is not given again.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        begin(self, opt)
        self.saved = self.best_valid is not None and train_model.PathManager.exists(opt["model_file"])
        self.opt["load_from_checkpoint"] = False  # already loaded; the model loaded at the end is the best one
        if self.valid_reports:
            self._last_valid_steps = self.valid_reports[-1].get("train_steps", 0)
        self.update_freq = self.agent.opt.get("update_freq", self.update_freq)  # from the saved options
        if self.parleys // self.update_freq != self._train_steps:
            self.parleys = self._train_steps * self.update_freq  # ParlAI derives its steps from these

    train_model.TrainLoop.__init__ = __init__


def forget_other_metric(train_model: Any) -> None:
    """Let a training resumed with another ``--validation-metric`` choose its best model anew: ParlAI compares the new
    metric with the best value of the old one, which may be out of its reach. Until then the model stays as it is.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        begin(self, opt)
        measured = [report.get(opt["validation_metric"]) for report in self.valid_reports]
        if measured and self.best_valid not in measured:
            self.best_valid, self.impatience = None, 0

    train_model.TrainLoop.__init__ = __init__


def resume_from_newest(train_model: Any) -> None:
    """Resume from the model if it is newer than the checkpoint: ParlAI always prefers the checkpoint, and so takes the
    steps since an old one, such as that of an earlier Ctrl-C, once more.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        if _is_newer_than_checkpoint(opt.get("model_file")):
            opt["load_from_checkpoint"] = False
        begin(self, opt)

    train_model.TrainLoop.__init__ = __init__


def _is_newer_than_checkpoint(model_file: str | None) -> bool:
    if not (model_file and os.path.exists(model_file)):
        return False
    try:
        files = [Path(f"{model_file}{ending}.trainstats").read_bytes() for ending in ("", ".checkpoint")]
        model, checkpoint = (json.loads(file)["train_steps"] for file in files)
    except (OSError, ValueError, KeyError):  # one is missing or broken; ParlAI reads that of the checkpoint
        return False
    return bool(model > checkpoint)


def draw_other_examples(train_model: Any) -> None:
    """Let a resumed training with ``--seed`` draw other examples than at its beginning: ParlAI draws the same again, so
    that a training which is often stopped never sees some examples.
    """
    train_steps = train_model.TrainLoop.train_steps

    def seeded_train_steps(self: Any) -> Any:
        if self._train_steps and self.opt.get("seed") is not None:
            random.seed(f"{self.opt['seed']} {self._train_steps} {train_model.get_rank()}")
        return train_steps(self)

    train_model.TrainLoop.train_steps = seeded_train_steps


def only_evaluate_finished(train_model: Any) -> None:
    """When the command of a finished training is run again, only evaluate its model: ParlAI checks for the end after
    each step, and so would train one more step each time.

    A training that was stopped before its last validation validates first. An agent that ends trainings itself, at a
    validation, says so in an attribute ``has_finished``.
    """
    train_steps, over = train_model.TrainLoop.train_steps, train_model.StopTrainException
    validate = train_model.TrainLoop.validate

    def is_over(self: Any) -> bool:
        best, cutoff, sign = self.best_valid, self.opt["validation_cutoff"], self.valid_optim
        return bool(
            self._preempted_epochs >= self.max_num_epochs
            or self._train_steps >= self.max_train_steps
            or self.train_time.total > self.max_train_time
            or 0 < self.opt["validation_patience"] <= self.impatience
            or (best is not None and sign * best >= sign * cutoff)
            or getattr(self.agent, "has_finished", False)
        )

    def validate_or_save(self: Any) -> bool:
        try:
            return bool(validate(self))
        except over:  # by the agent; ParlAI would save no checkpoint
            if self.opt.get("save_after_valid"):
                self.save_model(".checkpoint")
            raise

    def remaining_steps(self: Any) -> Any:
        if is_over(self):
            self._total_epochs = self._preempted_epochs

            def parley() -> None:
                _validate(self, self.world, over)
                raise over("a training that had already finished")

            self.world.parley = parley
        yield from train_steps(self)

    train_model.TrainLoop.validate, train_model.TrainLoop.train_steps = validate_or_save, remaining_steps


def validate_at_end(train_model: Any) -> None:
    """Validate once more at the end of a training: ParlAI does not, and so loses what the last steps learnt."""
    loop, over = train_model.TrainLoop, train_model.StopTrainException
    ask = loop._get_time  # called right before ParlAI checks for the end
    train_steps = loop.train_steps

    def _get_time(self: Any, world: Any) -> Any:
        times = ask(self, world)
        is_last_epoch = self._total_epochs >= self.max_num_epochs  # then ParlAI logs first
        if not is_last_epoch and (times[0] > self.max_train_time or self._train_steps >= self.max_train_steps):
            _validate(self, world, over)
        return times

    def watched_train_steps(self: Any) -> Any:
        _watch(self, self.world, ask, over)
        for logged in train_steps(self):
            if self._total_epochs >= self.max_num_epochs:
                _validate(self, self.world, over)
            yield logged

    loop._get_time = _get_time
    loop.train_steps = watched_train_steps


def _validate(loop: Any, world: Any, over: type[Exception]) -> None:
    """Validate, unless the last step was validated or validation is off.

    :param over: the exception with which ParlAI ends a training.
    """
    intervals = (loop.val_every_n_epochs, loop.val_every_n_secs, loop.val_every_n_steps)
    if min(intervals) == float("inf") or loop._train_steps == loop._last_valid_steps:
        return
    loop._total_exs = round(loop._total_epochs * world.num_examples())  # as ParlAI will
    if loop._last_log_steps:
        loop.log()
    world.reset_metrics()
    with contextlib.suppress(over):  # the training ends anyway
        loop.validate()
    world.reset_metrics()


def _watch(loop: Any, world: Any, ask: Callable[[Any, Any], Any], over: type[Exception]) -> None:
    """Also count and validate the step with which an agent ends the training, at the end of its learning-rate schedule.

    :param ask: ParlAI's ``_get_time``, which also computes how many epochs are done.
    """
    parley, world_of = type(world).parley, weakref.ref(world)  # ParlAI frees the world at the end

    def parley_or_validate() -> None:
        try:
            parley(world_of())
        except over:  # after the weights were updated, but before ParlAI counts the step
            loop.parleys += 1
            loop._train_steps = loop.parleys // loop.update_freq
            loop._last_log_steps += 1 / loop.update_freq
            ask(loop, world_of())
            _validate(loop, world_of(), over)
            raise

    world.parley = parley_or_validate
