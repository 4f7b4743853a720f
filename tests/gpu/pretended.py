"""A GPU that is none, so that what runs on a GPU can be tested without one.

PyTorch without CUDA knows the device ``cuda`` by name, and can do nothing there. ``pretended.cpp`` gives it memory and
a way to do everything: on the CPU. Tensors say that they are on ``cuda:0``, and a model and a batch that are not on the
same device fail with the words that a GPU has for it. What is not seen: what a GPU computes otherwise, how fast, in how
much memory, and several of them.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import cuda

SOURCE = Path(__file__).with_suffix(".cpp")


class NoPretendedGpu(Exception):
    """It could not be built: no C++ compiler, ninja, setuptools or header of Python's, or another PyTorch."""


def pretend_a_gpu(folder: Path) -> None:
    """Give this process a GPU.

    :param folder: where it is built, which takes half a minute; processes that are given the same one build it once.
    :raises NoPretendedGpu: if it cannot be built.
    """
    if torch.version.cuda or torch.version.hip:
        raise NoPretendedGpu(f"PyTorch {torch.__version__} looks for a real one; only a build for CPUs can pretend one")
    import_module("torch._inductor.utils")  # before there is a GPU, about which it asks more than there is to say
    # Where ninja is if the environment was not activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    try:
        from torch.utils import cpp_extension  # needs setuptools

        folder.mkdir(exist_ok=True)
        cpp_extension.load("pretended_gpu", [str(SOURCE)], extra_cflags=["-O1", "-w"], build_directory=str(folder))
    except Exception as error:  # each thing that is missing raises something else
        raise NoPretendedGpu((str(error).strip() or repr(error)).splitlines()[0]) from error
    for change, value in _CUDA.items():
        setattr(cuda, change, value)
    storage: Any = torch.UntypedStorage
    storage.clone = lambda self: _copied(self, self.device)
    storage.to = lambda self, *, device, non_blocking=False: _moved(self, torch.device(device))
    storage.cuda = lambda self, device=None, non_blocking=False: _moved(self, torch.device("cuda"))


def is_pretended() -> bool:
    """Whether this process's GPU is none."""
    return cuda.get_device_name() == _CUDA["get_device_name"]()


def _moved(storage: Any, device: torch.device) -> Any:
    return storage if storage.device.type == device.type else _copied(storage, device)


def _copied(storage: Any, device: torch.device) -> Any:
    return torch.empty(storage.nbytes(), dtype=torch.uint8, device=device).untyped_storage().copy_(storage)


_CUDA: dict[str, Any] = {
    **dict.fromkeys(("is_available", "_is_compiled", "is_initialized"), lambda: True),
    **dict.fromkeys(("init", "_lazy_init", "empty_cache"), lambda: None),
    **dict.fromkeys(("set_device", "synchronize", "reset_peak_memory_stats"), lambda device=None: None),
    **dict.fromkeys(("_exchange_device", "_maybe_exchange_device"), lambda device: 0),
    **dict.fromkeys(("memory_allocated", "max_memory_allocated", "memory_reserved"), lambda device=None: 0),
    **dict.fromkeys(("manual_seed", "manual_seed_all"), lambda seed: None),  # it draws as the CPU does
    "get_rng_state": lambda device=None: torch.get_rng_state(),
    "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "current_stream": lambda device=None: SimpleNamespace(synchronize=lambda: None),
    "get_device_capability": lambda device=None: (9, 0),
    "get_device_name": lambda device=None: "pretended",
    "get_device_properties": lambda device=None: SimpleNamespace(name="pretended", total_memory=2**34),
    "is_bf16_supported": lambda including_emulation=True: True,
}
