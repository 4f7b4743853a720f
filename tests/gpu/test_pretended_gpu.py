"""The pretended GPU fails where a real one fails; on a real GPU, the same tests verify their own expectations."""

from __future__ import annotations

import pytest
import torch
from torch import nn


def test_tensors_report_the_cuda_device() -> None:
    tensor = torch.arange(6.0, device="cuda").view(2, 3)
    assert tensor.is_cuda
    assert (tensor @ tensor.T).device == torch.device("cuda:0")
    assert tensor.T.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_mixing_devices_raises_runtime_error() -> None:
    table = nn.Embedding(3, 2).cuda()
    for together in (
        lambda: torch.ones(2, device="cuda") + torch.ones(2),
        lambda: torch.cat([torch.ones(2), torch.ones(2, device="cuda")]),
        lambda: table(torch.tensor([1])),
    ):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            together()


def test_cpu_scalars_and_indices_are_accepted() -> None:
    tensor = torch.arange(3.0, device="cuda")
    assert (tensor * torch.tensor(2.0))[torch.tensor([2, 0])].tolist() == [4, 0]


def test_numpy_conversion_raises_type_error() -> None:
    with pytest.raises(TypeError, match="can't convert cuda:0"):
        torch.ones(2, device="cuda").numpy()


def test_training_step_matches_cpu() -> None:
    weights = {}
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        model, inputs = (
            nn.Sequential(nn.EmbeddingBag(5, 3, sparse=True), nn.Linear(3, 2)),
            torch.tensor([[1, 2], [2, 4]]),
        )
        model.to(device)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        model(inputs.to(device)).square().sum().backward()
        optimiser.step()
        weights[device] = torch.cat([parameter.detach().cpu().flatten() for parameter in model.parameters()])
    assert torch.allclose(weights["cpu"], weights["cuda"])
