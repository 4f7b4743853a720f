"""``--num-workers`` starts processes that prepare batches for a training. In ParlAI they cannot build a dictionary,
ignore ``--seed``, and are ended by Ctrl-C or SIGTERM before the training.
"""

from __future__ import annotations

import copy
import functools
import os
import random
import signal
from collections.abc import Callable
from typing import Any

from parlai_empathy.repairs.interruption import SIGNALS

_GRACE = 10
"""Seconds that a worker goes on after SIGTERM: a training needs its batch to finish the step."""


def build_dictionary_without_workers(build_dict: Any) -> None:
    """Build a dictionary in one process: ParlAI would start the workers, which need a model that batches examples."""
    build = build_dict.build_dict

    @functools.wraps(build)
    def build_alone(opt: Any, *args: Any, **kwargs: Any) -> Any:
        if opt.get("num_workers"):
            opt = copy.deepcopy(opt)
            opt["num_workers"] = 0
        return build(opt, *args, **kwargs)

    build_dict.build_dict = build_alone


def seed_workers(worlds: Any) -> None:
    """Seed the examples that each worker draws with ``--seed``: Python seeds every forked process at random.

    With one worker, trainings are then reproducible; with several, the order depends on which has a batch ready first.
    A resumed training draws other examples than at its beginning.
    """
    world = worlds.BackgroundWorkerDynamicBatchWorld
    launch = world.launch_process.__func__

    def launch_process(cls: Any, index: int, opt: Any, model_agent: Any, process_queue: Any) -> None:
        if opt.get("seed") is not None:
            updates = getattr(model_agent, "_number_training_updates", 0)
            random.seed(f"{opt['seed']} {index}{f' {updates}' if updates else ''}")
        launch(cls, index, opt, model_agent, process_queue)

    world.launch_process = classmethod(launch_process)


def outlive_signals(worlds: Any) -> None:
    """Let a training finish its step: it would wait for ever for a batch of workers that have ended.

    Workers end with the training, however it ends.
    """

    def _start_processes(self: Any) -> Any:
        from torch.multiprocessing.spawn import start_processes

        launch = worlds.BackgroundWorkerDynamicBatchWorld.launch_process
        # Workers inherit this mask: a signal would end one that has not installed its handlers yet.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            return start_processes(  # type: ignore[no-untyped-call]
                _launch_worker,
                args=(launch, os.getpid(), self.opt, self.get_model_agent(), self._process_queue),
                nprocs=self._num_workers,
                join=False,
                daemon=True,  # Python ends daemons when it exits; it would wait for others
                start_method="fork",
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    worlds.BackgroundDriverWorld._start_processes = _start_processes


def _launch_worker(index: int, launch: Callable[..., None], training: int, *args: Any) -> None:
    def end_if_orphaned(signal_number: int, frame: Any) -> None:  # torch asks the system to send SIGINT then
        if os.getppid() != training:
            os._exit(1)

    signal.signal(signal.SIGINT, end_if_orphaned)
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(_GRACE))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    launch(index, *args)
