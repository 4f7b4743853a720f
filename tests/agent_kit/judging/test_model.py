"""Running a model on many pairs; test_judge.py tests initialising, saving and sharing with a whole agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch
from torch import Tensor, nn

from parlai_empathy.agent_kit.judging.examples import TextPair
from parlai_empathy.agent_kit.judging.model import PairModelAgent


class Lengths(nn.Module):
    """Outputs the lengths of context and reply."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.Linear(2, 2).requires_grad_(False)
        self.head = nn.Linear(2, 1, bias=False)
        nn.init.ones_(self.head.weight)

    def forward(self, lengths: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(lengths))
        return logits

    def features(self, lengths: Tensor) -> Tensor:
        return lengths


class LengthAgent(PairModelAgent):
    """An agent without ParlAI's initialisation, which needs a command line."""

    outputs = 1

    def __init__(self) -> None:
        self.opt = Opt({"precision": "float32"})
        self.model = self.build_model()
        self.batches: list[list[int]] = []

    def build_model(self) -> nn.Module:
        return Lengths()

    def train_step(self, batch: Batch) -> None: ...

    def eval_step(self, batch: Batch) -> None: ...

    def model_inputs(self, pairs: Sequence[TextPair]) -> tuple[Tensor, ...]:
        rows = [[float(sum(map(len, pair.turns))), float(len(pair.reply))] for pair in pairs]
        self.batches.append([int(sum(row)) for row in rows])
        return (torch.tensor(rows),)


PAIRS = [TextPair(("x" * (number * 7 % 50),), "y" * (number * 3 % 40)) for number in range(600)]


def test_batches_are_sorted_by_length_but_outputs_keep_order() -> None:
    agent = LengthAgent()
    agent.model.train()
    numbers = agent._in_batches(agent.bare_model, 1, PAIRS)
    assert numbers[:, 0].tolist() == [len(pair.turns[0]) + len(pair.reply) for pair in PAIRS]
    assert [len(batch) for batch in agent.batches] == [512, 88]
    lengths = [length for batch in agent.batches for length in batch]
    assert lengths == sorted(lengths)
    assert not numbers.requires_grad
    assert not agent.model.training


def test_feature_size_is_input_size_of_head() -> None:
    agent = LengthAgent()
    part: Any = agent.bare_model.features
    assert agent.feature_size == 2
    assert agent._in_batches(part, agent.feature_size, PAIRS[:3]).tolist() == [[0, 0], [7, 3], [14, 6]]
    assert agent._in_batches(part, 2, []).shape == (0, 2)


def test_frozen_parameters_are_not_given_to_the_optimizer() -> None:
    agent = LengthAgent()
    (weight,) = agent.parameter_groups()
    assert weight is agent.model.head.weight


def test_logits_are_differentiable() -> None:
    agent = LengthAgent()
    assert agent.logits(PAIRS[:2])[:, 0].tolist() == pytest.approx([0, 10])
    assert agent.logits(PAIRS[:2]).requires_grad
