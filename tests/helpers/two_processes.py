"""One training step in two processes, compared with the steps of single processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from parlai.core.opt import Opt
from parlai.core.teachers import create_task_agent_from_taskname
from sample_models import load
from teachers import examples_of
from tiny_parts import observed
from torch import Tensor, nn

EACH = 4  # examples per process


def check_gradients_are_averaged(model_file: Path, folder: Path, factor: int = 1) -> None:
    """Assert that each of two processes takes its step with ``factor`` times the mean of both gradients."""
    opt = Opt({**load(model_file).opt, "datatype": "train:evalmode", "batchsize": 1})
    (teacher,) = create_task_agent_from_taskname(opt)
    examples = examples_of(teacher)
    batches = [examples[:EACH], examples[EACH : 2 * EACH]]
    mp.spawn(_work, args=(model_file, folder, batches), nprocs=2)
    one, other = (_gradients(model_file, batch) for batch in batches)
    assert any(not torch.allclose(one[name], other[name]) for name in one), "the mean would be that of one process"
    for rank in range(2):
        found = torch.load(folder / f"{rank}.pt")
        assert found.keys() == one.keys()
        for name in one:
            torch.testing.assert_close(found[name], factor * (one[name] + other[name]) / 2, msg=name)


def _work(rank: int, model_file: Path, folder: Path, batches: list[list[dict[str, Any]]]) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    torch.save(_gradients(model_file, batches[rank]), folder / f"{rank}.pt")
    dist.destroy_process_group()


def _gradients(model_file: Path, batch: list[dict[str, Any]]) -> dict[str, Tensor]:
    """Return the gradients of a training step, without dropout."""
    agent = load(model_file, datatype="train")
    for module in agent.model.modules():
        if isinstance(module, nn.Dropout | nn.Dropout1d):
            module.p = 0.0
    agent.update_params = lambda: None
    for _ in range(2):  # in a first step alone, torch does not notice that it waits for unused weights
        agent.batch_act(observed(agent, *batch))
    named = agent.bare_model.named_parameters()
    return {name: weight.grad.to_dense() for name, weight in named if weight.grad is not None}
