"""``--num-workers``: trainings with worker processes start without a dictionary, are seeded, and stop like others."""

from __future__ import annotations

import contextlib
import inspect
import multiprocessing
import os
import pickle
import queue
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch.multiprocessing
from parlai.core.message import Message
from parlai.core.torch_agent import Batch
from parlai.core.worlds import BackgroundDriverWorld, BackgroundWorkerDynamicBatchWorld
from parlai.scripts.build_dict import build_dict
from parlai.scripts.train_model import TrainModel
from parlai_as_it_comes import unrepaired
from processes import PATIENCE
from sample_models import weights
from tiny_parts import SIZES, TASK, train

from parlai_empathy.repairs import background_workers

TINY: dict[str, Any] = {**TASK, **SIZES, "model": "empathy:retrieval"}
WORKER = {"num_workers": 1, "max_train_steps": 4, **SIZES}


def test_training_with_workers_builds_the_dictionary(tmp_path: Path) -> None:
    train(tmp_path / "alone", "empathy:retrieval", **{**WORKER, "num_workers": 0})
    train(tmp_path / "beside", "empathy:retrieval", **{**WORKER, "num_workers": 2})
    assert (tmp_path / "beside.dict").read_text() == (tmp_path / "alone.dict").read_text()


@pytest.mark.parametrize("workers", [1, 3])
def test_training_with_workers_is_reproducible_by_seed(tmp_path: Path, workers: int) -> None:
    one, same, other = (
        weights(train(tmp_path / name, "empathy:retrieval", **{**WORKER, "num_workers": workers}, seed=seed))
        for name, seed in (("one", 7), ("same", 7), ("other", 8))
    )
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def driver(*batches: list[Any]) -> Any:
    """Return the world of a training whose workers have put these into their queues, a list for each worker."""
    world = BackgroundDriverWorld.__new__(BackgroundDriverWorld)
    world.total_parleys, world._queues = 0, []
    for prepared in batches:
        waiting: Any = queue.Queue()
        for number, batch in enumerate(prepared):
            waiting.put(batch if batch is None else (number, pickle.dumps(batch)))
        world._queues.append(waiting)
    return world


def taken(world: Any, count: int) -> list[Any]:
    """Return the next batches; as in a training, each is the work of a step."""
    found = []
    for _ in range(count):
        found.append(world._queue_get()[1])
        world.total_parleys += 1
    return found


def test_workers_take_turns() -> None:
    assert taken(driver(["a1", "a2", "a3"], ["b1", "b2"], ["c1", "c2"]), 7) == [
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "c2",
        "a3",
    ]


def test_worker_without_examples_has_no_turn() -> None:
    assert taken(driver(["a1", "a2"], [None], ["c1", "c2"]), 4) in (["a1", "c1", "a2", "c2"], ["a1", "c1", "c2", "a2"])


class Failed(Exception):
    """Raised in place of a worker's error."""


def test_slow_worker_is_waited_for_and_failed_worker_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_workers, "_PATIENCE", 0.01)
    world, asked = driver([], ["b1"]), 0

    def join(timeout: float) -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise Failed

    world._process_pool = SimpleNamespace(join=join)
    with pytest.raises(Failed):
        world._queue_get()
    assert world._queues[1].qsize() == 1, "another worker's batch is not taken instead"


def test_batch_is_sent_as_bytes_and_arrives_equal() -> None:
    batch = Batch(
        text_vec=torch.tensor([[1, 2], [3, 0]]),
        label_vec=torch.tensor([[1.5], [-0.5]]),
        labels=["yes", "no"],
        batchsize=2,
        is_training=True,
        image=[torch.ones(2, dtype=torch.bfloat16), None],
        observations=[Message({"text": "hi", "text_vec": torch.tensor([1, 2])}), Message({"text": "ho"})],
    )
    sent: list[Any] = []
    worker = BackgroundWorkerDynamicBatchWorld.__new__(BackgroundWorkerDynamicBatchWorld)
    worker.index, worker.process_queue = 4, SimpleNamespace(put=sent.append)
    worker.world = SimpleNamespace(get_model_agent=lambda: SimpleNamespace(batchify=lambda _: batch))
    assert worker.handle_batch(["one", "two"]) == [{}, {}]
    ((index, packed),) = sent
    assert (index, type(packed)) == (4, bytes)
    world = driver([])
    world._queues[0].put((index, packed))
    _, found = world._queue_get()
    assert type(found) is Batch
    assert set(found) == set(batch)
    for name in ("text_vec", "label_vec"):
        assert torch.equal(found[name], batch[name])
        assert found[name].dtype == batch[name].dtype
        found[name] += 1  # it can be written to
    assert torch.equal(found.image[0], batch.image[0])
    assert found.image[1] is None
    assert (found.labels, found.batchsize, found.is_training) == (["yes", "no"], 2, True)
    first, second = found.observations
    assert (type(first), first["text"], second) == (Message, "hi", {"text": "ho"})
    assert torch.equal(first["text_vec"], torch.tensor([1, 2]))


def test_worker_without_examples_says_so_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(signal, "pause", lambda: sent.append("waits"))
    worker = BackgroundWorkerDynamicBatchWorld.__new__(BackgroundWorkerDynamicBatchWorld)
    worker.process_queue = SimpleNamespace(put=sent.append)
    worker.world = SimpleNamespace(num_examples=lambda: 0)
    worker.parley()
    assert sent == [None, "waits"]


class Begun(Exception):
    """Raised when the worker creates its world."""


@pytest.fixture
def first_draw(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that returns the first random number of a worker."""

    def stop(*_: Any, **__: Any) -> None:
        raise Begun

    monkeypatch.setattr(BackgroundWorkerDynamicBatchWorld, "__init__", stop)

    def draw(index: int, updates: int = 0, **options: Any) -> float:
        agent = SimpleNamespace(_number_training_updates=updates)
        with pytest.raises(Begun):
            BackgroundWorkerDynamicBatchWorld.launch_process(index, options, agent, None)
        return random.random()

    return draw


def test_each_worker_gets_its_own_random_seed(first_draw: Any) -> None:
    draws = [first_draw(index, seed=seed) for seed in (1, 2) for index in (0, 1)]
    assert len(set(draws)) == 4
    assert draws == [first_draw(index, seed=seed) for seed in (1, 2) for index in (0, 1)]


def test_worker_of_resumed_training_gets_another_random_seed(first_draw: Any) -> None:
    assert len({first_draw(0, updates, seed=1) for updates in (0, 5, 10)}) == 3


def test_worker_without_seed_option_is_not_seeded(first_draw: Any) -> None:
    random.seed(3)
    expected = random.random()
    random.seed(3)
    assert first_draw(0, seed=None) == expected


@pytest.fixture
def worker() -> Iterator[Any]:
    """A function that starts a waiting worker and signals it; if ``left_alone``, its parent is not its training."""
    with contextlib.ExitStack() as stack:

        def begin(number: int = signal.SIGINT, left_alone: bool = False) -> Any:
            context = multiprocessing.get_context("fork")
            begun = context.Event()

            def wait(index: int, queue: None) -> None:
                begun.set()
                time.sleep(PATIENCE)

            training = 0 if left_alone else os.getpid()
            launch = background_workers._launch_worker
            process = context.Process(target=launch, args=(0, wait, training, [None]), daemon=True)
            process.start()
            stack.callback(process.kill)
            assert begun.wait(PATIENCE)
            os.kill(process.pid, number)
            return process

        yield begin


def test_ctrl_c_does_not_end_a_worker(worker: Any) -> None:
    process = worker()
    process.join(0.5)
    assert process.is_alive()


def test_sigterm_ends_a_worker_after_grace_period(worker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_workers, "_GRACE", 2)
    process = worker(signal.SIGTERM)
    process.join(0.5)
    assert process.is_alive()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGALRM


def test_orphaned_worker_exits(worker: Any) -> None:
    process = worker(left_alone=True)
    process.join(PATIENCE)
    assert process.exitcode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_all_processes_saves_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    parley = BackgroundDriverWorld.parley

    def pressed_parley(self: Any) -> None:
        for pid in (os.getpid(), *self._process_pool.pids()):
            os.kill(pid, number)
        for _ in range(20):  # more than there are batches in the queue
            parley(self)

    monkeypatch.setattr(BackgroundDriverWorld, "parley", pressed_parley)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "model", "empathy:retrieval", **{**WORKER, "max_train_steps": 40})
    assert (tmp_path / "model.checkpoint").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_starting_worker_survives_signals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int) -> None:
    launch = background_workers._launch_worker

    def pressed_launch(*args: Any) -> None:
        os.kill(os.getpid(), number)
        launch(*args)

    monkeypatch.setattr(background_workers, "_launch_worker", pressed_launch)
    train(tmp_path / "model", "empathy:retrieval", **WORKER)
    assert (tmp_path / "model").is_file()
    assert number not in signal.pthread_sigmask(signal.SIG_BLOCK, ())  # not blocked: it still ends the training


def test_unrepaired_parlai_cannot_build_dictionary_with_workers(tmp_path: Path) -> None:
    opt = TrainModel.setup_args().parse_kwargs(**TINY, num_workers=1, dict_file=str(tmp_path / "words"))
    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="batch_act"):
        unrepaired("parlai.scripts.build_dict").build_dict(opt)
    build_dict(opt)
    assert (tmp_path / "words").is_file()
    assert opt["num_workers"] == 1  # the given options are unchanged


def test_unrepaired_parlai_does_not_seed_workers() -> None:
    workers = unrepaired("parlai.core.worlds").BackgroundWorkerDynamicBatchWorld
    assert "seed" not in inspect.getsource(workers.launch_process)


def test_unrepaired_parlai_has_one_queue_and_sends_tensors() -> None:
    worlds = unrepaired("parlai.core.worlds")
    assert "_queues" not in inspect.getsource(worlds.BackgroundDriverWorld._queue_get)
    assert "put((self.index, batchified))" in inspect.getsource(worlds.BackgroundWorkerDynamicBatchWorld.handle_batch)


def test_unrepaired_parlai_does_not_make_workers_daemons() -> None:
    assert "daemon" not in inspect.getsource(unrepaired("parlai.core.worlds").BackgroundDriverWorld._start_processes)
