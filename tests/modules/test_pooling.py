"""Pooling: masks, masked means and scaling vectors to a length."""

from __future__ import annotations

import torch

from parlai_empathy.modules.pooling import masked_mean, scaled_to_length, token_mask


def test_masked_mean_matches_hand_calculation() -> None:
    states = torch.tensor([[[1.0, 10.0], [3.0, 20.0], [99.0, 99.0]], [[7.0, 8.0], [99.0, 99.0], [99.0, 99.0]]])
    keep = token_mask(torch.tensor([2, 1]), 3)
    assert keep.tolist() == [[True, True, False], [True, False, False]]
    # First text: (1 + 3) / 2 = 2 and (10 + 20) / 2 = 15. Second: the state of its only token.
    assert masked_mean(states, keep).tolist() == [[2.0, 15.0], [7.0, 8.0]]


def test_vectors_are_scaled_to_the_given_length() -> None:
    vectors = torch.tensor([[3.0, 4.0], [0.0, 0.5]])  # of lengths 5 and 0.5
    torch.testing.assert_close(scaled_to_length(10.0, vectors), torch.tensor([[6.0, 8.0], [0.0, 10.0]]))
    assert scaled_to_length(None, vectors) is vectors
