"""Delayed nucleus beam search samples its first tokens from the nucleus, then searches with a beam."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from parlai.core import torch_generator_agent as repaired
from parlai_as_it_comes import unrepaired

# The nucleus of 0.5 is the first token alone in both rows; a beam of 2 takes the two best sums of log-probabilities.
LOGPROBS = torch.tensor([[0.6, 0.3, 0.1], [0.7, 0.2, 0.1]]).log()


def select(module: Any, length: int) -> Any:
    search = module.DelayedNucleusBeamSearch(0.5, 2, beam_size=2)
    return search.select_paths(LOGPROBS, torch.tensor([-1.0, -3.0]), length)


def test_first_tokens_are_from_the_nucleus() -> None:
    for _ in range(20):
        assert select(repaired, 1).token_ids.tolist() == [0, 0]
        assert select(repaired, 1).hypothesis_ids.tolist() == [0, 1]


def test_later_tokens_are_the_best_of_the_beam() -> None:
    # -1 + ln .6 = -1.51 and -1 + ln .3 = -2.20, against -3 + ln .7 = -3.36
    found = select(repaired, 2)
    assert (found.hypothesis_ids.tolist(), found.token_ids.tolist()) == ([0, 0], [0, 1])


def test_unrepaired_search_lacks_the_nucleus() -> None:
    with pytest.raises(AttributeError, match="get_mask"):
        select(unrepaired("parlai.core.torch_generator_agent"), 1)
