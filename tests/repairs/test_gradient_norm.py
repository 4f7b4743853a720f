"""The norm of the gradients is ParlAI's."""

from __future__ import annotations

import pytest
import torch
from parlai.core import torch_agent
from parlai_as_it_comes import unrepaired
from torch import nn


@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0])
def test_norm_is_that_of_all_gradients_together(norm: float) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 2))
    model[:2](torch.arange(6.0).view(2, 3)).square().sum().backward()  # the last layer has no gradients
    expected = unrepaired("parlai.utils.torch").compute_grad_norm(model.parameters(), norm)
    assert torch_agent.compute_grad_norm(model.parameters(), norm) == pytest.approx(expected, rel=1e-6)
    everything = torch.cat([weight.grad.flatten() for weight in model[:2].parameters()])
    assert torch_agent.compute_grad_norm(model.parameters(), norm) == pytest.approx(float(everything.norm(norm)))


def test_sparse_gradients_of_a_word_are_added_up() -> None:
    words = nn.Embedding(5, 3, sparse=True)
    (words(torch.tensor([1, 1, 4])) * torch.tensor([[1.0], [2.0], [4.0]])).sum().backward()
    expected = unrepaired("parlai.utils.torch").compute_grad_norm(words.parameters())
    assert torch_agent.compute_grad_norm(words.parameters()) == pytest.approx(expected, rel=1e-6)
    assert expected == pytest.approx((3 * 3**2 + 3 * 4**2) ** 0.5)


def test_norm_of_one_weight_may_be_asked_for() -> None:
    weight = torch.ones(2, requires_grad=True)
    (weight * torch.tensor([3.0, 4.0])).sum().backward()
    assert torch_agent.compute_grad_norm(weight) == 5


def test_norm_without_gradients_is_zero() -> None:
    assert torch_agent.compute_grad_norm([nn.Parameter(torch.ones(2))]) == 0


def test_unrepaired_norm_waits_for_each_weight() -> None:
    waited = []

    class Watched(torch.Tensor):
        def item(self) -> float:
            waited.append(1)
            return super().item()

    weights = [nn.Parameter(torch.ones(2)) for _ in range(3)]
    for weight in weights:
        weight.grad = torch.ones(2).as_subclass(Watched)
    unrepaired("parlai.utils.torch").compute_grad_norm(weights)
    assert len(waited) == 3
