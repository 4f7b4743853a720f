"""A training's end: ParlAI forgets what was best when it resumes, and that a training was over, and does not look at
what it learnt last.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any


def keep_best_model(train_model: Any) -> None:
    """Keep the best model when a resumed training finds no better one: ParlAI would put the last one in its place, and
    evaluate the last one at the end, whichever it has kept.
    """
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        begin(self, opt)
        self.saved = self.best_valid is not None and train_model.PathManager.exists(opt["model_file"])
        self.opt["load_from_checkpoint"] = False  # it is done; what is loaded at the end is the best model
        if self.valid_reports:
            self._last_valid_steps = self.valid_reports[-1].get("train_steps", 0)

    train_model.TrainLoop.__init__ = __init__


def end_what_was_over(train_model: Any) -> None:
    """Only evaluate what a training that came to its end has kept, when its command is run again: ParlAI looks whether
    it is at its end after each step, and so would take one more each time.
    """
    train_steps = train_model.TrainLoop.train_steps

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
                raise train_model.StopTrainException("what was trained to its end before")

            self.world.parley = parley
        yield from train_steps(self)

    train_model.TrainLoop.train_steps = steps_that_are_left


def validate_at_the_end(train_model: Any) -> None:
    """Validate when a training has come to its end: ParlAI ends before, so that what was learnt last would be lost."""
    loop = train_model.TrainLoop
    ask = loop._get_time  # which comes right before ParlAI looks whether the training is at its end
    train_steps = loop.train_steps

    def validate(self: Any, world: Any) -> None:
        intervals = (self.val_every_n_epochs, self.val_every_n_secs, self.val_every_n_steps)
        if min(intervals) == float("inf") or self._train_steps == self._last_valid_steps:
            return
        self._total_exs = round(self._total_epochs * world.num_examples())  # as ParlAI does next
        if self._last_log_steps:
            self.log()
        world.reset_metrics()
        with contextlib.suppress(train_model.StopTrainException):  # it is over anyway
            self.validate()
        world.reset_metrics()

    def _get_time(self: Any, world: Any) -> Any:
        times = ask(self, world)
        is_last_epoch = self._total_epochs >= self.max_num_epochs  # then ParlAI logs first
        if not is_last_epoch and (times[0] > self.max_train_time or self._train_steps >= self.max_train_steps):
            validate(self, world)
        return times

    def watch(self: Any, world: Any) -> None:
        """An agent may end a training too, where the schedule of its rate is over."""
        parley, world_of = type(world).parley, weakref.ref(world)  # ParlAI wants the world's memory back at the end

        def parley_or_validate() -> None:
            try:
                parley(world_of())
            except train_model.StopTrainException:
                validate(self, world_of())
                raise

        world.parley = parley_or_validate

    def watched_train_steps(self: Any) -> Any:
        watch(self, self.world)
        for logged in train_steps(self):
            if self._total_epochs >= self.max_num_epochs:
                validate(self, self.world)
            yield logged

    loop._get_time = _get_time
    loop.train_steps = watched_train_steps
