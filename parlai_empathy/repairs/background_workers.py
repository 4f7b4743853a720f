"""``--num-workers`` starts processes that prepare batches for a training. In ParlAI they cannot build a dictionary,
ignore ``--seed``, send batches more slowly than a training without them prepares its own, and are ended by Ctrl-C or
SIGTERM before the training.
"""

from __future__ import annotations

import copy
import functools
import io
import os
import pickle
import queue
import random
import signal
from collections.abc import Callable
from typing import Any

from parlai_empathy.repairs.interruption import SIGNALS

_GRACE = 10
"""Seconds that a worker goes on after SIGTERM: a training needs its batch to finish the step."""

_READY = 4
"""Batches that a worker prepares ahead, as in ParlAI."""

_PATIENCE = 10
"""Seconds that a training waits for a batch before it asks whether a worker has failed, as in ParlAI."""


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


def take_turns(worlds: Any) -> None:
    """Take the workers' batches in turn, so that with ``--seed`` a training is reproducible with any number of them.

    In ParlAI all put their batches into one queue, and the order depends on which has one ready first.
    """
    start = worlds.BackgroundWorkerDynamicBatchWorld.parley

    def parley(self: Any) -> None:
        if self.world.num_examples():
            start(self)
            return
        self.process_queue.put(None)  # it has no turn; ParlAI's would try for ever
        signal.pause()

    def _queue_get(self: Any) -> Any:
        while True:
            turn = self.total_parleys % len(self._queues)
            try:
                found = self._queues[turn].get(timeout=_PATIENCE)
            except queue.Empty:
                self._process_pool.join(timeout=0.1)  # raises the error of a worker that has failed
            else:
                if found is not None:
                    return found
                del self._queues[turn]

    worlds.BackgroundWorkerDynamicBatchWorld.parley = parley
    worlds.BackgroundDriverWorld._queue_get = _queue_get


def send_as_bytes(worlds: Any) -> None:
    """Send a batch as bytes: torch would share each tensor through a file of its own, half a millisecond for each."""
    get = worlds.BackgroundDriverWorld._queue_get

    def handle_batch(self: Any, observations: Any) -> list[dict[str, Any]]:
        batch = self.world.get_model_agent().batchify(observations)
        self.process_queue.put((self.index, _packed(batch)))
        return [{} for _ in observations]

    def _queue_get(self: Any) -> tuple[int, Any]:
        index, packed = get(self)
        return index, pickle.loads(packed)

    worlds.BackgroundWorkerDynamicBatchWorld.handle_batch = handle_batch
    worlds.BackgroundDriverWorld._queue_get = _queue_get


def _packed(batch: Any) -> bytes:
    file = io.BytesIO()
    _Packer(file, pickle.HIGHEST_PROTOCOL).dump(batch)
    return file.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, item: Any) -> Any:
        """Pickle a tensor as a NumPy array, if NumPy has its type."""
        import torch

        if type(item) is not torch.Tensor or item.dtype == torch.bfloat16:
            return NotImplemented
        return torch.from_numpy, (item.numpy(),)


def outlive_signals(worlds: Any) -> None:
    """Let a training finish its step: it would wait for ever for a batch of workers that have ended.

    Workers end with the training, however it ends.
    """

    def _start_processes(self: Any) -> Any:
        import torch.multiprocessing
        from torch.multiprocessing.spawn import start_processes

        launch = worlds.BackgroundWorkerDynamicBatchWorld.launch_process
        self._queues = [torch.multiprocessing.Queue(maxsize=_READY) for _ in range(self._num_workers)]
        # Workers inherit this mask: a signal would end one that has not installed its handlers yet.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            return start_processes(  # type: ignore[no-untyped-call]
                _launch_worker,
                args=(launch, os.getpid(), self._queues, self.opt, self.get_model_agent()),
                nprocs=self._num_workers,
                join=False,
                daemon=True,  # Python ends daemons when it exits; it would wait for others
                start_method="fork",
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    worlds.BackgroundDriverWorld._start_processes = _start_processes


def _launch_worker(index: int, launch: Callable[..., None], training: int, queues: list[Any], *args: Any) -> None:
    def end_if_orphaned(signal_number: int, frame: Any) -> None:  # torch asks the system to send SIGINT then
        if os.getppid() != training:
            os._exit(1)

    signal.signal(signal.SIGINT, end_if_orphaned)
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(_GRACE))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    launch(index, *args, queues[index])
