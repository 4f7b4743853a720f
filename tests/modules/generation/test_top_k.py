"""The k largest scores, compared with full sorting."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from parlai_empathy.modules.generation.top_k import top_k_tokens


def by_sorting(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Sort each row; of equal scores, the first wins."""
    rows = [sorted(range(len(row)), key=lambda place, row=row: (-row[place], place))[:count] for row in scores.tolist()]
    places = torch.tensor([sorted(row) for row in rows])
    return scores.gather(1, places), places


# Widths around one piece of 64 and around as many pieces as ``count``, and vocabulary sizes.
widths = st.sampled_from([1, 5, 63, 64, 65, 255, 256, 257, 320, 700, 2001])


@given(st.integers(0, 10_000), widths, st.integers(1, 6), st.sampled_from([1, 2, 5, 1000]))
def test_top_k_matches_full_sorting_including_ties(seed: int, width: int, count: int, different: int) -> None:
    """With few distinct values, nearly all scores are equal."""
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randint(different, (7, width), generator=draw).float()
    expected, found = by_sorting(scores, count), top_k_tokens(scores, count)
    assert torch.equal(found[1], expected[1])
    assert torch.equal(found[0], expected[0])


@pytest.mark.parametrize("width", [10, 1000])
def test_negative_infinity_is_chosen_last(width: int) -> None:
    scores = torch.full((2, width), float("-inf"))
    scores[0, [3, 7]] = torch.tensor([-5.0, -4.0])
    values, places = top_k_tokens(scores, 3)
    assert places.tolist() == [[0, 3, 7], [0, 1, 2]]
    assert values.tolist() == [[float("-inf"), -5.0, -4.0], [float("-inf")] * 3]


def test_k_larger_than_width_returns_all() -> None:
    values, places = top_k_tokens(torch.tensor([[2.0, 9.0]]), 4)
    assert values.tolist() == [[2.0, 9.0]]
    assert places.tolist() == [[0, 1]]
