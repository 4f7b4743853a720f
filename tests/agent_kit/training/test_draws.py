"""Random numbers of training steps: reproduced when a training resumes, and different otherwise."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from parlai_empathy.agent_kit.training import draws
from parlai_empathy.agent_kit.training.draws import random_of_step, seed_weights


def first(seed: Any, step: int) -> float:
    return random_of_step({"seed": seed}, step).random()


def test_same_seed_and_step_draw_the_same_numbers() -> None:
    assert first(1, 7) == first(1, 7)
    assert random_of_step({}, 7).random() == first(None, 7)  # ParlAI has no default seed


def test_draws_differ_between_seeds_steps_and_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [first(seed, step) for seed in (None, 0, 1, 11) for step in (0, 1, 11)]
    monkeypatch.setattr(draws, "get_rank", lambda: 1)
    numbers += [first(seed, step) for seed in (None, 0, 1, 11) for step in (0, 1, 11)]
    assert len(set(numbers)) == len(numbers)


def test_seed_weights_seeds_torch_only_with_a_seed() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    seed_weights({"seed": 3})
    assert torch.equal(torch.rand(4), expected)
    torch.manual_seed(3)
    seed_weights({"seed": None})
    assert torch.equal(torch.rand(4), expected), "no seed, and nothing has changed"
