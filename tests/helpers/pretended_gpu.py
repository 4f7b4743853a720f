"""A pretended GPU, with which GPU code can be tested on machines without one.

PyTorch without CUDA knows the device ``cuda`` by name, but implements nothing for it. ``pretended_gpu.cpp`` gives it
memory and runs every operation on the CPU. Tensors report the device ``cuda:0``; a model and a batch on different
devices fail with the message of a real GPU. Not covered: numerical differences, speed and memory of real GPUs, and
several GPUs.
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
    """It cannot be built: no C++ compiler, ninja, setuptools or Python headers, or an unsuitable PyTorch."""


def pretend_a_gpu(folder: Path) -> None:
    """Give this process a pretended GPU.

    :param folder: the build folder; the build takes half a minute, and processes that share the folder build once.
    :raises NoPretendedGpu: if it cannot be built.
    """
    if torch.version.cuda or torch.version.hip:
        raise NoPretendedGpu(f"PyTorch {torch.__version__} looks for a real one; only a build for CPUs can pretend one")
    import_module("torch._inductor.utils")  # before there is a GPU: it queries properties that are not pretended
    # The folder of ninja, if the environment is not activated.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    try:
        from torch.utils import cpp_extension  # needs setuptools

        folder.mkdir(exist_ok=True)
        cpp_extension.load("pretended_gpu", [str(SOURCE)], extra_cflags=["-O1", "-w"], build_directory=str(folder))
    except Exception as error:  # each missing part raises another type
        raise NoPretendedGpu((str(error).strip() or repr(error)).splitlines()[0]) from error
    for change, value in _CUDA.items():
        setattr(cuda, change, value)
    storage: Any = torch.UntypedStorage
    storage.clone = lambda self: _copied(self, self.device)
    storage.to = lambda self, *, device, non_blocking=False: _moved(self, torch.device(device))
    storage.cuda = lambda self, device=None, non_blocking=False: _moved(self, torch.device("cuda"))


def is_pretended() -> bool:
    """Whether this process's GPU is a pretended one."""
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
    **dict.fromkeys(("manual_seed", "manual_seed_all"), lambda seed: None),  # it shares the CPU's random generator
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
