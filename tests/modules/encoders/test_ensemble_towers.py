"""The projections of an ensemble: their initialisation and their outputs."""

from __future__ import annotations

import pytest
import torch

from parlai_empathy.modules.encoders.ensemble_towers import EnsembleTowers, Projection


def test_projection_initially_returns_the_base_vectors() -> None:
    rows = torch.randn(5, 7)
    torch.testing.assert_close(Projection(4, 3, is_random=False)(rows), rows[:, :4])


def test_random_projection_is_plain_linear_layer() -> None:
    projection = Projection(4, 3, is_random=True)
    rows = torch.randn(2, 5, 7)
    expected = rows @ projection.linear.weight.T + projection.linear.bias
    torch.testing.assert_close(projection(rows), expected)
    assert projection.linear.weight[:, 4:].abs().min() > 0


def test_feature_weights_get_gradients_from_the_start() -> None:
    projection = Projection(4, 3, is_random=False)
    projection(torch.randn(5, 7)).square().sum().backward()
    assert projection.linear.weight.grad is not None
    assert projection.linear.weight.grad[:, 4:].abs().min() > 0


@pytest.mark.parametrize("length", [None, 2.5])
def test_each_side_has_separate_projection_scaled_to_length(length: float | None) -> None:
    towers = EnsembleTowers(4, 3, is_random=True, length=length)
    rows = torch.randn(5, 7)
    contexts, replies = towers(rows, rows)
    assert contexts.shape == replies.shape == (5, 4)
    assert not torch.allclose(contexts, replies)
    for side, vectors in ((towers.contexts, contexts), (towers.replies, replies)):
        bare = side.linear(rows)  # type: ignore[operator, union-attr]
        expected = bare if length is None else bare / bare.norm(dim=1, keepdim=True) * length
        torch.testing.assert_close(vectors, expected)
