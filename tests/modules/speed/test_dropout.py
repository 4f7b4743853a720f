"""The dropout module against its definition."""

from __future__ import annotations

import pytest
import torch

from parlai_empathy.modules.speed.dropout import dropped


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_zeros_have_rate_p_and_mean_is_preserved(p: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    found = dropped(torch.ones(300, 1001, dtype=dtype), p, training=True)
    # The share of zeros among 300,300 draws has a standard error of at most .5 / sqrt(300,300) = .0009.
    assert found.eq(0).float().mean().item() == pytest.approx(p, abs=0.004)
    assert found.float().mean().item() == pytest.approx(1, abs=0.05)
    assert found[found != 0].unique().tolist() == [pytest.approx(1 / (1 - p), rel=0.01)]
    assert found.dtype == dtype


def test_positions_are_dropped_independently() -> None:
    torch.manual_seed(0)
    zeros = dropped(torch.ones(100_000), 0.5, training=True).eq(0).float()
    for step in (1, 2, 3, 4, 8):  # four draws share one random number
        assert torch.corrcoef(torch.stack([zeros[step:], zeros[:-step]]))[0, 1].abs() < 0.02


def test_gradients_flow_through_kept_elements_only() -> None:
    states = torch.randn(7, 5, requires_grad=True)
    found = dropped(states, 0.3, training=True)
    found.sum().backward()
    assert states.grad is not None
    torch.testing.assert_close(found, states * states.grad)  # each element was multiplied by its gradient


def test_same_seed_gives_same_mask() -> None:
    torch.manual_seed(3)
    first, second = (dropped(torch.ones(50), 0.5, training=True) for _ in range(2))
    torch.manual_seed(3)
    assert torch.equal(dropped(torch.ones(50), 0.5, training=True), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(("p", "training", "expected"), [(0.3, False, 1.0), (0.0, True, 1.0), (1.0, True, 0.0)])
def test_output_is_deterministic_in_eval_and_at_p_0_or_1(p: float, training: bool, expected: float) -> None:
    state = torch.get_rng_state()
    assert dropped(torch.ones(9), p, training).tolist() == [expected] * 9
    if not training:
        assert torch.equal(torch.get_rng_state(), state)


def test_empty_tensor_keeps_its_shape() -> None:
    assert dropped(torch.ones(0, 4), 0.5, training=True).shape == (0, 4)


def test_divisor_is_the_rounded_share_that_is_kept() -> None:
    torch.manual_seed(0)
    found = dropped(torch.ones(2**22), 0.99999, training=True)  # .00001 x 65,536 = .66, rounded to 1
    assert found.unique().tolist() == [0, 2**16]
    # 64 of the draws are expected to be kept, each with a probability of 1 / 65,536: a standard error of 8 / 64.
    assert found.mean().item() == pytest.approx(1, abs=0.4)
