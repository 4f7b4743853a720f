"""What breaks in ParlAI 1.7.2 on the current stack, and the smallest repair of each.

Each function repairs one breakage; :mod:`parlai_empathy.plugin` says when. A test beside each fails as soon as ParlAI
or the stack no longer needs it.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import importlib.resources
import importlib.util
import multiprocessing
import random
import sys
import weakref
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any

from parlai_empathy.errors import OptionError

# --- setuptools >= 82 has no `pkg_resources`; `parlai.core.opt` asks it for two functions -----------------------------


def lend_pkg_resources() -> None:
    """Stand in for ``pkg_resources`` while ``parlai.core.opt`` is imported. (Also quicker than the real one.)"""
    if "pkg_resources" in sys.modules:
        return
    stand_in = ModuleType("pkg_resources", lend_pkg_resources.__doc__)
    stand_in.resource_exists = resource_exists  # type: ignore[attr-defined]
    stand_in.resource_filename = resource_filename  # type: ignore[attr-defined]
    stand_in.lent_by_parlai_empathy = True  # type: ignore[attr-defined]
    sys.modules["pkg_resources"] = stand_in


def take_back_pkg_resources(_: ModuleType) -> None:
    """Nobody else shall take the stand-in for the real library; ``parlai.core.opt`` keeps its reference."""
    if hasattr(sys.modules.get("pkg_resources"), "lent_by_parlai_empathy"):
        del sys.modules["pkg_resources"]


def resource_filename(package: str, name: str) -> str:
    """The path of file ``name`` inside ``package``. Raises ``ModuleNotFoundError`` if there is no such package."""
    return str(importlib.resources.files(package) / name)


def resource_exists(package: str, name: str) -> bool:
    """Whether ``package`` holds a file ``name``. Raises ``ModuleNotFoundError`` if there is no such package."""
    return (importlib.resources.files(package) / name).is_file()


# --- torch took `verbose` from ReduceLROnPlateau, ParlAI's default scheduler ------------------------------------------


def reduce_on_plateau(lr_scheduler: ModuleType) -> None:
    """Build ParlAI's default scheduler without the argument that torch no longer takes."""
    from torch.optim.lr_scheduler import ReduceLROnPlateau

    def __init__(
        self: Any, optimizer: Any, patience: int, decay: float, warmup_updates: int, warmup_rate: float
    ) -> None:
        lr_scheduler.ParlAILRScheduler.__init__(self, warmup_updates, warmup_rate)
        self.scheduler = ReduceLROnPlateau(optimizer, "min", factor=decay, patience=patience)

    lr_scheduler.ReduceOnPlateauLRScheduler.__init__ = __init__


# --- transformers 5 hands GPT-2 a Cache object where ParlAI expects tuples --------------------------------------------


def reorder_gpt2_cache(gpt2: ModuleType) -> None:
    """Let beam search reorder the key-value cache of current transformers."""
    decoder = gpt2.HFGPT2Model
    reorder_tuples = decoder.reorder_decoder_incremental_state

    def reorder_decoder_incremental_state(self: Any, incremental_state: Any, inds: Any) -> Any:
        if hasattr(incremental_state, "reorder_cache"):
            incremental_state.reorder_cache(inds)
            return incremental_state
        return reorder_tuples(self, incremental_state, inds)

    decoder.reorder_decoder_incremental_state = reorder_decoder_incremental_state


# --- `multiprocessing_train` and `distributed_train` take GPUs for granted --------------------------------------------


def train_on_several_cpus(distributed: Any) -> None:
    """Let ``multiprocessing_train`` and ``distributed_train`` work on machines without a GPU, with torch's gloo.

    On machines with a GPU ParlAI's own way stays, but for two things that help there too: the dictionary is built
    before the processes meet, and ``--seed`` also seeds each process' choice of examples.
    """
    context_on_gpus = distributed.distributed_context
    gather_on_gpus = distributed.all_gather_list

    @contextlib.contextmanager
    def distributed_context(
        rank: int, opt: Any, rank_offset: int = 0, gpu: int | None = None, init_method: str = "tcp://localhost:61337"
    ) -> Iterator[Any]:
        import torch

        _check_world_size(opt)
        with _end_the_others_after_a_failure():
            _build_dictionary(opt, rank + rank_offset)
        if opt.get("seed") is not None:
            random.seed(opt["seed"] + rank + rank_offset)
        if torch.cuda.is_available() and not opt.get("no_cuda"):
            context = context_on_gpus(rank, opt, rank_offset, gpu, init_method)
        else:
            context = _context_on_cpus(distributed, rank + rank_offset, opt, init_method)
        with context as opt, _end_the_others_after_a_failure():
            yield opt

    def all_gather_list(data: Any) -> list[Any]:
        import torch.distributed

        if not distributed.is_distributed() or torch.distributed.get_backend() != "gloo":
            return list(gather_on_gpus(data))
        gathered: list[Any] = [None] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(gathered, data)
        return gathered

    distributed.distributed_context = distributed_context
    distributed.all_gather_list = all_gather_list


def join_on_several_cpus(fsdp: ModuleType) -> None:
    """Let the processes wait for one another at the end on CPUs too: ParlAI names the GPU ``--gpu``, here -1."""
    for loop in (fsdp.JoinableTrainLoop, fsdp.JoinableEvaluator):
        loop.join_device = _cpu_under_gloo(loop.join_device)


def _cpu_under_gloo(device_of_gpu: property) -> property:
    def join_device(self: Any) -> Any:
        import torch.distributed

        if torch.distributed.get_backend() == "gloo":
            return torch.device("cpu")
        return device_of_gpu.__get__(self)

    return property(join_device)


def _check_world_size(opt: Any) -> None:
    if opt["distributed_world_size"] is None or opt["distributed_world_size"] < 1:
        raise OptionError(
            "--distributed-world-size: how many processes? It counts GPUs by default and found none; "
            "name a number, for example --distributed-world-size 2"
        )


@contextlib.contextmanager
def _end_the_others_after_a_failure() -> Iterator[None]:
    """The first process, if it fails, ends those that ``multiprocessing_train`` has spawned.

    They would wait half an hour for the next word from it, and it for their end.
    """
    try:
        yield
    except BaseException:
        for child in multiprocessing.active_children():
            if isinstance(child, SpawnProcess) and not child.daemon:
                child.terminate()
        raise


def _build_dictionary(opt: Any, rank: int) -> None:
    """The first process builds the dictionary before they meet: ParlAI refuses to once they know each other."""
    file = opt.get("dict_file") or (f"{opt['model_file']}.dict" if opt.get("model_file") else None)
    if rank == 0 and "dict_file" in opt and file:
        from parlai.scripts.build_dict import build_dict

        alone = copy.deepcopy(opt)
        alone["dict_file"] = file
        build_dict(alone, skip_if_built=True)


@contextlib.contextmanager
def _context_on_cpus(distributed: ModuleType, rank: int, opt: Any, init_method: str) -> Iterator[Any]:
    """ParlAI's ``distributed_context`` without CUDA: options, muted output of the other ranks, process group, seed."""
    import torch

    opt = copy.deepcopy(opt)
    opt["rank"] = rank
    opt["gpu"] = -1
    opt.setdefault("override", {})["gpu"] = -1
    loud = opt.get("verbose") or rank == 0
    with distributed.override_print(not loud, f"rank:{rank:3d} |" if opt.get("verbose") or rank else None):
        torch.distributed.init_process_group(
            "gloo", init_method=init_method, world_size=opt["distributed_world_size"], rank=rank
        )
        # Each process would otherwise take all the cores, and they would spend their time waiting for one another.
        torch.set_num_threads(max(1, torch.get_num_threads() // opt["distributed_world_size"]))
        torch.manual_seed(42)  # as ParlAI does: all start from the same parameters
        wrappers: weakref.WeakSet[Any] = weakref.WeakSet()
        try:
            with _wrap_without_devices(wrappers):
                yield opt
        finally:
            _end_process_group(wrappers)


@contextlib.contextmanager
def _wrap_without_devices(wrappers: weakref.WeakSet[Any]) -> Iterator[None]:
    """ParlAI's agents always name a GPU to ``DistributedDataParallel``; on CPUs it must be none."""
    import torch

    original = torch.nn.parallel.DistributedDataParallel

    class OnCpus(original):  # type: ignore[misc, valid-type]
        def __init__(self, module: Any, device_ids: Any = None, **kwargs: Any) -> None:
            super().__init__(module, device_ids=None, **kwargs)
            wrappers.add(self)

    torch.nn.parallel.DistributedDataParallel = OnCpus  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        torch.nn.parallel.DistributedDataParallel = original  # type: ignore[misc]


def _end_process_group(wrappers: weakref.WeakSet[Any]) -> None:
    """Leave together, and without a live reducer: with one, ``destroy_process_group`` was seen to hang."""
    import torch

    failed = sys.exc_info()[0] is not None
    if not failed:
        torch.distributed.barrier()
    for wrapper in wrappers:
        wrapper.reducer = None
    gc.collect()
    torch.distributed.destroy_process_group()


# --- a resumed training forgets that its best model is saved ----------------------------------------------------------


def keep_best_model(train_model: Any) -> None:
    """Keep the best model when a resumed training finds no better one: ParlAI would put the last one in its place."""
    begin = train_model.TrainLoop.__init__

    def __init__(self: Any, opt: Any) -> None:
        begin(self, opt)
        self.saved = self.best_valid is not None and train_model.PathManager.exists(opt["model_file"])

    train_model.TrainLoop.__init__ = __init__


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
