"""``--num-workers``, processes that prepare batches beside a training: they build no dictionary, and know no seed."""

from __future__ import annotations

import copy
import functools
import random
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
