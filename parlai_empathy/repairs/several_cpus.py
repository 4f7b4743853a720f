"""``multiprocessing_train`` and ``distributed_train`` require GPUs in ParlAI."""

from __future__ import annotations

import contextlib
import copy
import gc
import multiprocessing
import random
import sys
import weakref
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any

from parlai_empathy.errors import OptionError


def train_on_several_cpus(distributed: Any) -> None:
    """Let ``multiprocessing_train`` and ``distributed_train`` work without a GPU, with torch's gloo backend.

    Two changes apply with GPUs, too: the dictionary is built before the process group is initialised, and ``--seed``
    also seeds each process's choice of examples.
    """
    context_on_gpus = distributed.distributed_context
    gather_on_gpus = distributed.all_gather_list

    @contextlib.contextmanager
    def distributed_context(
        rank: int, opt: Any, rank_offset: int = 0, gpu: int | None = None, init_method: str = "tcp://localhost:61337"
    ) -> Iterator[Any]:
        import torch

        _check_world_size(opt)
        with _end_others_on_failure():
            _build_dictionary(opt, rank + rank_offset)
        if opt.get("seed") is not None:
            random.seed(opt["seed"] + rank + rank_offset)
        if torch.cuda.is_available() and not opt.get("no_cuda"):
            context = context_on_gpus(rank, opt, rank_offset, gpu, init_method)
        else:
            context = _context_on_cpus(distributed, rank + rank_offset, opt, init_method)
        with context as opt, _end_others_on_failure():
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
    """Let processes on CPUs wait for one another at the end: ParlAI would use the device ``--gpu``, here -1."""
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
            "--distributed-world-size is missing: by default it is the number of GPUs, and there are none; give the "
            "number of processes, for example --distributed-world-size 2"
        )


@contextlib.contextmanager
def _end_others_on_failure() -> Iterator[None]:
    """End the processes that ``multiprocessing_train`` has spawned if the first process fails.

    They would wait half an hour for its next message, and it for their end.
    """
    try:
        yield
    except BaseException:
        for child in multiprocessing.active_children():
            if isinstance(child, SpawnProcess) and not child.daemon:
                child.kill()  # in a training, they leave SIGTERM to the first process (interruption.py)
        raise


def _build_dictionary(opt: Any, rank: int) -> None:
    """Build the dictionary in the first process: ParlAI refuses to once the process group is initialised."""
    file = opt.get("dict_file") or (f"{opt['model_file']}.dict" if opt.get("model_file") else None)
    if rank == 0 and "dict_file" in opt and file:
        from parlai.scripts.build_dict import build_dict

        alone = copy.deepcopy(opt)
        alone["dict_file"] = file
        build_dict(alone, skip_if_built=True)


@contextlib.contextmanager
def _context_on_cpus(distributed: ModuleType, rank: int, opt: Any, init_method: str) -> Iterator[Any]:
    """ParlAI's ``distributed_context`` without CUDA: options, silenced output of other ranks, process group, seed."""
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
        # Otherwise each process would use all cores, and they would slow one another down.
        torch.set_num_threads(max(1, torch.get_num_threads() // opt["distributed_world_size"]))
        torch.manual_seed(42)  # as in ParlAI: all processes start from the same parameters
        wrappers: weakref.WeakSet[Any] = weakref.WeakSet()
        try:
            with _wrap_without_devices(wrappers):
                yield opt
        finally:
            _end_process_group(wrappers)


@contextlib.contextmanager
def _wrap_without_devices(wrappers: weakref.WeakSet[Any]) -> Iterator[None]:
    """ParlAI's agents always pass a device to ``DistributedDataParallel``; on CPUs there must be none."""
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
    """End the process group together, after the reducers: ``destroy_process_group`` was seen to hang otherwise."""
    import torch

    failed = sys.exc_info()[0] is not None
    if not failed:
        torch.distributed.barrier()
    for wrapper in wrappers:
        wrapper.reducer = None
    gc.collect()
    torch.distributed.destroy_process_group()
