"""Ctrl-C or SIGTERM in a training, and Ctrl-C in a chat: ParlAI stops amid a step and loses what it learnt since the
last save, or what was said, since it writes ``--outfile`` only at the regular end, and shuts no agent down.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
from collections.abc import Iterator
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The signals that stop a training: Ctrl-C, and that of a scheduler that will soon kill the job."""

_ADVICE = b"\nStopping after this step; Ctrl-C once more stops at once, and saves nothing.\n"


def save_on_signal(train_model: Any) -> None:
    """Finish the step, save a checkpoint, then exit; the same command resumes from there.

    With several processes the first one decides, and the others exit after the same step. A validation is abandoned at
    once: it changes no weights.
    """
    loop = train_model.TrainLoop
    loop._stop = _Stop(decides=False)  # until the first step
    train_steps, ask, evaluate = loop.train_steps, loop._get_time, loop._run_eval

    def stoppable_train_steps(self: Any) -> Iterator[Any]:
        self._stop = stop = _Stop(decides=train_model.is_primary_worker())
        before = {number: signal.signal(number, stop) for number in SIGNALS}
        try:
            yield from train_steps(self)
        except KeyboardInterrupt:
            if not stop.at_once:
                _save(self, train_model)
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if stop.is_wanted:  # since the last step; everything is saved
            raise KeyboardInterrupt

    def _get_time(self: Any, world: Any) -> Any:  # ParlAI calls it once after each step
        times = ask(self, world)
        if train_model.sync_object(self._stop.is_wanted):
            raise KeyboardInterrupt
        return times

    def _run_eval(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._stop.can_be_now = True
        try:
            if self._stop.is_wanted:  # since the step, while the validation data were loaded
                raise KeyboardInterrupt
            return evaluate(self, *args, **kwargs)
        finally:
            self._stop.can_be_now = False

    loop.train_steps, loop._get_time, loop._run_eval = stoppable_train_steps, _get_time, _run_eval


class _Stop:
    """Handles the signals that stop a training.

    :param decides: whether this process decides for all processes.
    """

    def __init__(self, decides: bool) -> None:
        self.decides = decides
        self.is_wanted = self.can_be_now = self.at_once = False

    def __call__(self, signal_number: int, frame: Any) -> None:
        """Record the request; Python may call this in the middle of a step."""
        if not self.decides:
            if _is_orphan():  # torch asks the system to send SIGINT then
                raise KeyboardInterrupt
            return
        self.at_once = self.is_wanted
        self.is_wanted = True
        if self.at_once or self.can_be_now:
            raise KeyboardInterrupt
        os.write(2, _ADVICE)  # the signal may have interrupted a write to sys.stderr, which is not reentrant


def _is_orphan() -> bool:
    """Whether the process that started this one has died: without it, GPUs would wait half an hour for a message."""
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


def _save(loop: Any, train_model: Any) -> None:
    file = loop.opt.get("model_file")
    if not file:
        train_model.logging.warning("Nothing was saved: there is no --model-file")
        return
    loop.save_model(".checkpoint")
    train_model.logging.info(
        f"Saved after {loop._train_steps} steps in {file}.checkpoint: the same command resumes from there"
    )


def save_what_was_said(script: Any) -> None:
    """Let the command of the module write its log also if it is interrupted, unless nothing was said.

    The agents are then shut down, so that they can log what they used.

    :param script: ``parlai.scripts.interactive`` or ``parlai.scripts.self_chat``.
    """
    name = script.__name__.rpartition(".")[2]
    chat, make_world, begun = getattr(script, name), script.create_task, {}

    class Logger(script.WorldLogger):
        """ParlAI's logger, known to the command that wraps it."""

        def __init__(self, opt: Any) -> None:
            super().__init__(opt)
            begun["logger"] = self

    @functools.wraps(make_world)
    def create_task(*args: Any, **kwargs: Any) -> Any:
        begun["world"] = make_world(*args, **kwargs)
        return begun["world"]

    @functools.wraps(chat)
    def saved_chat(opt: Any) -> Any:
        begun.clear()
        try:
            return chat(opt)
        except KeyboardInterrupt:
            if opt.get("outfile") and len(begun) == 2:
                _save_chat(opt, **begun)
            if "world" in begun:
                begun["world"].shutdown()
            raise

    script.WorldLogger, script.create_task = Logger, create_task
    setattr(script, name, saved_chat)


def _save_chat(opt: Any, logger: Any, world: Any) -> None:
    logger.reset()  # the last conversation may be unfinished
    if not any(logger.get_logs()):
        return
    if opt["save_format"] == "conversations" and hasattr(world, "write"):  # as ParlAI does at the end
        world.write(logger, opt["outfile"])
    else:
        logger.write(opt["outfile"], world, opt["save_format"])
