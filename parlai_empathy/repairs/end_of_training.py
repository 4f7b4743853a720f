"""The end of a training. ParlAI does not validate the last steps, and trains on after a finished training."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any


def only_evaluate_finished(train_model: Any) -> None:
    """When the command of a finished training is run again, only evaluate its model: ParlAI checks for the end after
    each step, and so would train one more step each time.

    A training that was stopped before its last validation validates first. An agent that ends trainings itself, at a
    validation, says so in an attribute ``has_finished``.
    """
    train_steps, over = train_model.TrainLoop.train_steps, train_model.StopTrainException
    validate = train_model.TrainLoop.validate

    def validate_or_save(self: Any) -> bool:
        try:
            return bool(validate(self))
        except over:  # by the agent; ParlAI would save no checkpoint
            if self.opt.get("save_after_valid"):
                self.save_model(".checkpoint")
            raise

    def remaining_steps(self: Any) -> Any:
        if end := _end_of(self):
            train_model.logging.warning(
                f"nothing is trained, because the training had finished: {end}, or start a new one from this model "
                "with --init-model"
            )
            self._total_epochs = self._preempted_epochs

            def parley() -> None:
                _validate(self, self.world, over)
                raise over("a training that had already finished")

            self.world.parley = parley
        yield from train_steps(self)

    train_model.TrainLoop.validate, train_model.TrainLoop.train_steps = validate_or_save, remaining_steps


def _end_of(loop: Any) -> str | None:
    """Return what has ended a training, and how it could go on; None if it is not over."""
    limits = (
        (loop._preempted_epochs, "--num-epochs", loop.max_num_epochs),
        (loop._train_steps, "--max-train-steps", loop.max_train_steps),
        (loop.train_time.total, "--max-train-time", loop.max_train_time),
        (loop.impatience, "--validation-patience", loop.opt["validation_patience"]),
    )
    for reached, option, most in limits:
        if 0 < most <= reached:
            return f"it has {round(reached, 2):.10g} of {option} {most:.10g}: raise it to go on"
    best, cutoff, sign = loop.best_valid, loop.opt["validation_cutoff"], loop.valid_optim
    if best is not None and sign * best >= sign * cutoff:
        metric = loop.opt["validation_metric"]
        return f"its best {metric} is {best:.4g}, beyond --validation-cutoff {cutoff:g}: change that to go on"
    has_finished = getattr(loop.agent, "has_finished", False)
    return "its agent has ended it: train anew with another --model-file" if has_finished else None


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
