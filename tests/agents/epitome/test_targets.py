"""Training of EPITOME's judge: targets by hand, losses by their definitions."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from parlai_empathy.agents.epitome.targets import (
    UNKNOWN,
    level_losses,
    rationale_losses,
    rationale_targets,
    true_levels,
)
from parlai_empathy.agents.epitome.tokens import Tokens
from parlai_empathy.errors import DataError

BOTH = ["emotional_reactions", "explorations"]
TOKENS = Tokens((1, 5, 6, 2), (None, (0, 3), (4, 9), None))


def test_missing_levels_are_unknown() -> None:
    messages = [{"levels": {"emotional_reactions": 2, "explorations": 0}}, {"levels": {"explorations": 1}}]
    assert true_levels(messages, BOTH).tolist() == [[2, 0], [UNKNOWN, 1]]
    assert true_levels(messages, ["explorations"]).tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({}, "a message has no levels of emotional_reactions, explorations: use a --task that has them"),
        ({"levels": {"interpretations": 1}}, "a message has no levels"),
        ({"levels": {"explorations": 3}}, "level of explorations is 3: must be 0, 1 or 2"),
        ({"levels": {"explorations": "1"}}, "level of explorations is '1'"),
    ],
)
def test_missing_or_invalid_levels_raise_data_error(message: dict[str, object], expected: str) -> None:
    with pytest.raises(DataError) as caught:
        true_levels([message], BOTH)
    assert expected in str(caught.value)


def test_rationale_targets_label_tokens_and_ignore_padding() -> None:
    message = {
        "levels": {"emotional_reactions": 1, "explorations": 0},
        "rationales": {"emotional_reactions": [[4, 9]], "explorations": []},
    }
    assert rationale_targets([message], BOTH, [TOKENS], 5).tolist() == [[[0, 0, 1, 0, UNKNOWN], [0, 0, 0, 0, UNKNOWN]]]


@pytest.mark.parametrize(
    "message",
    [
        {"levels": {"explorations": 1}, "rationales": {"explorations": []}},  # rated without a quoted rationale
        {"levels": {"explorations": 1}},
        {"levels": {"explorations": 0}},
        {"levels": {"emotional_reactions": 1}, "rationales": {"emotional_reactions": [[0, 1]]}},
    ],
)
def test_missing_rationales_are_unknown(message: dict[str, object]) -> None:
    assert rationale_targets([message], ["explorations"], [TOKENS], 4).tolist() == [[[UNKNOWN] * 4]]


def test_level_losses_sum_over_mechanisms() -> None:
    logits = torch.tensor([[[0.0, 0.0, 0.0], [math.log(2), 0.0, 0.0]]]).expand(2, 2, 3)
    levels = torch.tensor([[1, 0], [UNKNOWN, 1]])
    # -log(1/3) = log 3; the second's probabilities are 1/2, 1/4, 1/4.
    expected = [math.log(3) + math.log(2), math.log(4)]
    assert level_losses(logits, levels).tolist() == pytest.approx(expected)


def one_by_one(logits: Tensor, marks: Tensor) -> float:
    """The original's loss: for each mechanism, torch's mean over the batch's labelled tokens."""
    total = 0.0
    for column in range(marks.size(1)):
        total += float(
            torch.nn.functional.cross_entropy(logits[:, column].reshape(-1, 2), marks[:, column].reshape(-1))
        )
    return total


def test_rationale_losses_average_over_labelled_tokens_of_the_batch() -> None:
    torch.manual_seed(1)
    logits = torch.randn(4, 2, 6, 2)
    marks = torch.randint(0, 2, (4, 2, 6))
    marks[1, :, 2:] = marks[3, 0] = UNKNOWN
    losses = rationale_losses(logits, marks)
    assert losses.shape == (4,)
    assert float(losses.mean()) == pytest.approx(one_by_one(logits, marks), rel=1e-5)


def test_batch_without_rationales_has_zero_rationale_loss() -> None:
    losses = rationale_losses(torch.randn(2, 1, 3, 2), torch.full((2, 1, 3), UNKNOWN))
    assert losses.tolist() == [0, 0]
