"""``--num-workers``, processes that prepare batches beside a training: they build no dictionary, know no seed, and end
when Ctrl-C is pressed, before the training does.
"""

from __future__ import annotations

import copy
import functools
import os
import random
import signal
from collections.abc import Callable
from typing import Any


def build_dictionary_without_them(build_dict: Any) -> None:
    """Build a dictionary in one process: ParlAI would start the workers, which want a model that takes batches."""
    build = build_dict.build_dict

    @functools.wraps(build)
    def build_alone(opt: Any, *args: Any, **kwargs: Any) -> Any:
        if opt.get("num_workers"):
            opt = copy.deepcopy(opt)
            opt["num_workers"] = 0
        return build(opt, *args, **kwargs)

    build_dict.build_dict = build_alone


def seed_them(worlds: Any) -> None:
    """Let ``--seed`` say which examples each worker draws: Python seeds every forked process by chance.

    One worker then gives the same training each time; of several, who has a batch ready first decides what is next.
    """
    world = worlds.BackgroundWorkerDynamicBatchWorld
    launch = world.launch_process.__func__

    def launch_process(cls: Any, index: int, opt: Any, *args: Any) -> None:
        if opt.get("seed") is not None:
            random.seed(f"{opt['seed']} {index}")
        launch(cls, index, opt, *args)

    world.launch_process = classmethod(launch_process)


def let_them_outlive_ctrl_c(worlds: Any) -> None:
    """Let a training come to the end of its step: it would wait for ever for the next batch of those that have ended.

    They end with the training, however it ends.
    """

    def _start_processes(self: Any) -> Any:
        from torch.multiprocessing.spawn import start_processes

        launch = worlds.BackgroundWorkerDynamicBatchWorld.launch_process
        # A worker inherits what is blocked: Ctrl-C would end it before it can say what it does about it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return start_processes(  # type: ignore[no-untyped-call]
                _launch_behind_a_training,
                args=(launch, os.getpid(), self.opt, self.get_model_agent(), self._process_queue),
                nprocs=self._num_workers,
                join=False,
                daemon=True,  # Python ends these at its own end; for others it waits
                start_method="fork",
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    worlds.BackgroundDriverWorld._start_processes = _start_processes


def _launch_behind_a_training(index: int, launch: Callable[..., None], training: int, *args: Any) -> None:
    def end_if_left_alone(signal_number: int, frame: Any) -> None:  # torch has it sent when the training is no more
        if os.getppid() != training:
            os._exit(1)

    signal.signal(signal.SIGINT, end_if_left_alone)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    launch(index, *args)
