"""An LSTM over texts of different lengths; its values are checked step by step in test_deepmoji.py."""

from __future__ import annotations

import pytest
import torch

from parlai_empathy.modules.classifiers.packed_lstm import PackedLSTM


@torch.no_grad()
def test_states_do_not_depend_on_longer_texts_in_the_batch() -> None:
    torch.manual_seed(0)
    lstm, steps = PackedLSTM(4, 3), torch.randn(2, 5, 4)
    both = lstm(steps, torch.tensor([5, 2]))
    assert both.shape == (2, 5, 6)
    torch.testing.assert_close(both[1:, :2], lstm(steps[1:, :2], torch.tensor([2])))
    assert not both[1, 2:].any()


@pytest.mark.parametrize("lengths", [[5, 2], [5, 5], [1, 1]])
@pytest.mark.parametrize("learns", [True, False])
def test_bfloat16_outputs_are_close_to_float32(lengths: list[int], learns: bool) -> None:
    """Including texts of equal length, which torch passes to a different backend."""
    torch.manual_seed(0)
    lstm, steps = PackedLSTM(4, 3), torch.randn(2, 5, 4)
    with torch.set_grad_enabled(learns):
        expected = lstm(steps, torch.tensor(lengths))
        with torch.autocast("cpu", torch.bfloat16):
            found = lstm(steps.bfloat16(), torch.tensor(lengths))
    torch.testing.assert_close(found.float(), expected, atol=0.05, rtol=0)
