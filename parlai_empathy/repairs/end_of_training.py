"""A training's end: ParlAI forgets what was best when it resumes, and that a training was over, and does not look at
what it learnt last.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any


def keep_best_model(train_model: Any) -> None:
    """Keep the best model when a resumed training finds no better one: ParlAI would put the last one in its place, and
    evaluate the last one at the end, whichever it has kept. And go on counting its steps when ``--update-freq`` is
    another, or is not given again.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        begin(self, opt)
        self.saved = self.best_valid is not None and train_model.PathManager.exists(opt["model_file"])
        self.opt["load_from_checkpoint"] = False  # it is done; what is loaded at the end is the best model
        if self.valid_reports:
            self._last_valid_steps = self.valid_reports[-1].get("train_steps", 0)
        self.update_freq = self.agent.opt.get("update_freq", self.update_freq)  # which the saved model may remember
        if self.parleys // self.update_freq != self._train_steps:
            self.parleys = self._train_steps * self.update_freq  # of which ParlAI counts the steps

    train_model.TrainLoop.__init__ = __init__


def end_what_was_over(train_model: Any) -> None:
    """Only evaluate what a training that came to its end has kept, when its command is run again: ParlAI looks whether
    it is at its end after each step, and so would take one more each time.

    What was stopped before it validated at its end does that first.
    """
    train_steps, over = train_model.TrainLoop.train_steps, train_model.StopTrainException

    def is_over(self: Any) -> bool:
        return bool(
            self._preempted_epochs >= self.max_num_epochs
            or self._train_steps >= self.max_train_steps
            or self.train_time.total > self.max_train_time
            or 0 < self.opt["validation_patience"] <= self.impatience
        )

    def steps_that_are_left(self: Any) -> Any:
        if is_over(self):
            self._total_epochs = self._preempted_epochs

            def parley() -> None:
                _validate(self, self.world, over)
                raise over("what was trained to its end before")

            self.world.parley = parley
        yield from train_steps(self)

    train_model.TrainLoop.train_steps = steps_that_are_left


def validate_at_the_end(train_model: Any) -> None:
    """Validate when a training has come to its end: ParlAI ends before, so that what was learnt last would be lost."""
    loop, over = train_model.TrainLoop, train_model.StopTrainException
    ask = loop._get_time  # which comes right before ParlAI looks whether the training is at its end
    train_steps = loop.train_steps

    def _get_time(self: Any, world: Any) -> Any:
        times = ask(self, world)
        is_last_epoch = self._total_epochs >= self.max_num_epochs  # then ParlAI logs first
        if not is_last_epoch and (times[0] > self.max_train_time or self._train_steps >= self.max_train_steps):
            _validate(self, world, over)
        return times

    def watched_train_steps(self: Any) -> Any:
        _watch(self, self.world, over)
        for logged in train_steps(self):
            if self._total_epochs >= self.max_num_epochs:
                _validate(self, self.world, over)
            yield logged

    loop._get_time = _get_time
    loop.train_steps = watched_train_steps


def _validate(loop: Any, world: Any, over: type[Exception]) -> None:
    """Validate, unless that was done after the last step, or is not wanted at all.

    :param over: what ParlAI raises where a training is over.
    """
    intervals = (loop.val_every_n_epochs, loop.val_every_n_secs, loop.val_every_n_steps)
    if min(intervals) == float("inf") or loop._train_steps == loop._last_valid_steps:
        return
    loop._total_exs = round(loop._total_epochs * world.num_examples())  # as ParlAI does next
    if loop._last_log_steps:
        loop.log()
    world.reset_metrics()
    with contextlib.suppress(over):  # it is over anyway
        loop.validate()
    world.reset_metrics()


def _watch(loop: Any, world: Any, over: type[Exception]) -> None:
    """An agent may end a training too, where the schedule of its rate is over."""
    parley, world_of = type(world).parley, weakref.ref(world)  # ParlAI wants the world's memory back at the end

    def parley_or_validate() -> None:
        try:
            parley(world_of())
        except over:
            _validate(loop, world_of(), over)
            raise

    world.parley = parley_or_validate
