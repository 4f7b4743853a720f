"""Ctrl-C in a training: ParlAI ends in the middle of a step, and what was learnt since it last saved is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from typing import Any

_ADVICE = b"\nStopping after this step; Ctrl-C once more stops at once, and saves nothing.\n"


def save_what_was_learnt(train_model: Any) -> None:
    """Come to the end of the step, save a checkpoint, then end; the same command goes on from there.

    Of several processes the first decides, and the others end after the same step. A validation has learnt nothing,
    and is left at once.
    """
    loop = train_model.TrainLoop
    loop._stop = _Stop(decides=False)  # until the first step
    train_steps, ask, evaluate = loop.train_steps, loop._get_time, loop._run_eval

    def stoppable_train_steps(self: Any) -> Iterator[Any]:
        self._stop = stop = _Stop(decides=train_model.is_primary_worker())
        before = signal.signal(signal.SIGINT, stop)
        try:
            yield from train_steps(self)
        except KeyboardInterrupt:
            if not stop.at_once:
                _save(self, train_model)
            raise
        finally:
            signal.signal(signal.SIGINT, before)
        if stop.is_wanted:  # since the last step; all is saved
            raise KeyboardInterrupt

    def _get_time(self: Any, world: Any) -> Any:  # which ParlAI calls once after each step
        times = ask(self, world)
        if train_model.sync_object(self._stop.is_wanted):
            raise KeyboardInterrupt
        return times

    def _run_eval(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._stop.can_be_now = True
        try:
            if self._stop.is_wanted:  # since the step, while the validation's data were read
                raise KeyboardInterrupt
            return evaluate(self, *args, **kwargs)
        finally:
            self._stop.can_be_now = False

    loop.train_steps, loop._get_time, loop._run_eval = stoppable_train_steps, _get_time, _run_eval


class _Stop:
    """What Ctrl-C does while a training runs.

    :param decides: whether this process is the one that decides for all.
    """

    def __init__(self, decides: bool) -> None:
        self.decides = decides
        self.is_wanted = self.can_be_now = self.at_once = False

    def __call__(self, signal_number: int, frame: Any) -> None:
        """Python calls this where it happens to be, in the middle of a step perhaps."""
        if not self.decides:
            if _is_left_alone():  # then torch has it sent
                raise KeyboardInterrupt
            return
        self.at_once = self.is_wanted
        self.is_wanted = True
        if self.at_once or self.can_be_now:
            raise KeyboardInterrupt
        os.write(2, _ADVICE)  # Python's own files cannot be written to while they are


def _is_left_alone() -> bool:
    """Whether the process that has started this one is no more: waiting for its word would take GPUs half an hour."""
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


def _save(loop: Any, train_model: Any) -> None:
    file = loop.opt.get("model_file")
    if not file:
        train_model.logging.warning("Nothing was saved: there is no --model-file")
        return
    loop.save_model(".checkpoint")
    train_model.logging.info(
        f"Saved after {loop._train_steps} steps in {file}.checkpoint: the same command goes on from there"
    )
