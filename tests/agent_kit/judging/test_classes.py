"""Classes: their targets, and what a model's outputs mean. Expected values are derived by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.agent_kit.judging.classes import JudgeClasses, numbers, shares
from parlai_empathy.errors import DataError, OptionError

STARS = ("1", "2", "3", "4", "5")
RATED = JudgeClasses(STARS, "ce")
PLACED = JudgeClasses(STARS, "mse")
MOODS = JudgeClasses(("sad", "glad", "angry"), "ce")


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (STARS, [1, 2, 3, 4, 5]),
        (["-0.5", "1e1"], [-0.5, 10]),
        (["1", "two"], None),
        (["1", "nan"], None),
        (["1", "inf"], None),
        ([], None),
        (None, None),
    ],
)
def test_numbers_converts_only_numeric_classes(classes: list[str] | None, expected: list[float] | None) -> None:
    assert numbers(classes) == expected


def test_probabilities_are_softmax_of_logits() -> None:
    # The softmax of (0, 0, ln 2): the shares of e^0, e^0 and e^(ln 2).
    assert MOODS.probabilities(torch.tensor([[0.0, 0.0, math.log(2)]]))[0].tolist() == pytest.approx([0.25, 0.25, 0.5])


def test_mse_judge_has_no_probabilities() -> None:
    with pytest.raises(OptionError, match="trained with --loss mse: it gives scores, not probabilities"):
        PLACED.probabilities(torch.zeros(1, 1))


# --- targets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"labels": ["4"]}, [0, 0, 0, 1, 0]),
        ({"eval_labels": ["1"]}, [1, 0, 0, 0, 0]),
        ({"labels": ["5", "2"]}, [0, 0.5, 0, 0, 0.5]),  # both are correct
        ({"labels": ["4"], "ratings": [3, 4, 5, 5]}, [0, 0, 0.25, 0.25, 0.5]),  # each rater has the same weight
        ({"labels": ["4"], "rating_mean": 3.75}, [0, 0, 0.25, 0.75, 0]),  # .25 x 3 + .75 x 4 = 3.75
        ({"labels": ["4"], "rating_mean": 4.0}, [0, 0, 0, 1, 0]),
        ({"labels": ["4"], "rating_mean": 5}, [0, 0, 0, 0, 1]),
        ({"labels": ["4"], "ratings": [], "rating_mean": None}, [0, 0, 0, 1, 0]),
        ({"labels": ["4"], "ratings": [2], "rating_mean": 3.75}, [0, 1, 0, 0, 0]),
    ],
)
def test_shares_follow_ratings_then_mean_then_label(message: dict[str, Any], expected: list[float]) -> None:
    assert shares(message, STARS) == pytest.approx(expected)


def test_shares_of_non_numeric_classes_follow_only_the_label() -> None:
    message = {"labels": ["glad"], "ratings": [1, 2], "rating_mean": 1.5}
    assert shares(message, MOODS.names) == [0, 1, 0]


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True), st.floats(0, 1))
def test_shares_preserve_mean_rating_for_any_class_order(scale: list[int], place: float) -> None:
    mean = min(scale) + place * (max(scale) - min(scale))
    parts = shares({"labels": [], "rating_mean": mean}, [str(value) for value in scale])
    assert sum(parts) == pytest.approx(1)
    assert sum(part * value for part, value in zip(parts, scale, strict=True)) == pytest.approx(mean, abs=1e-9)
    assert sum(part > 0 for part in parts) <= 2


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"labels": ["so\nso"]}, "the label 'so\\nso' is not one of"),
        ({"labels": ["2"], "ratings": [2, 2.5]}, "the rating 2.5 is not one of"),
        (
            {"labels": ["2"], "rating_mean": 5.5},
            "the mean rating 5.5 lies outside",
        ),
        (
            {"labels": ["2"], "rating_mean": 0.5},
            "the mean rating 0.5 lies outside",
        ),
    ],
)
def test_label_or_rating_outside_classes_raises_data_error(message: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError) as caught:
        shares(message, STARS)
    assert str(caught.value) == f"{reason} this judge's classes (1, 2, 3, 4, 5): check --task and --classes"


# --- outputs ---------------------------------------------------------------------------------------------------------


def test_outputs_are_one_per_class_or_one_for_mse() -> None:
    assert (RATED.outputs, PLACED.outputs, MOODS.outputs) == (5, 1, 3)


def test_cross_entropy_score_is_the_expected_class() -> None:
    # The softmax of (0, 0, 0, 0, ln 4): four times 1/8, and 4/8 for the fifth. (1 + 2 + 3 + 4) / 8 + 5 / 2 = 3.75.
    logits = torch.tensor([[0, 0, 0, 0, math.log(4)], [0, 0, 0, 0, 0]])
    assert RATED.scores(logits).tolist() == pytest.approx([3.75, 3.0])
    assert RATED.chosen(logits) == ["5", "1"], "the most probable one; of equals the first"


def test_mse_score_is_sigmoid_position_on_scale() -> None:
    # The sigmoids are 1/2, 3/4 and 1/10: scores 3, 4, and 1 + 4/10, whose nearest class is 1.
    logits = torch.tensor([[0.0], [math.log(3)], [-math.log(9)]])
    assert PLACED.scores(logits).tolist() == pytest.approx([3.0, 4.0, 1.4])
    assert PLACED.chosen(logits) == ["3", "4", "1"]


def test_mse_score_ignores_class_order() -> None:
    mixed = JudgeClasses(("5", "1", "3"), "mse")
    assert mixed.scores(torch.tensor([[0.0], [9.0]])).tolist() == pytest.approx([3.0, 5.0], abs=1e-3)
    assert mixed.chosen(torch.tensor([[0.0], [9.0], [-9.0]])) == ["3", "5", "1"]


def test_in_words_shows_class_with_score_or_probability() -> None:
    assert RATED.in_words(torch.tensor([[0, 0, 0, 0, math.log(4)]])) == ["5 (3.75)"]
    assert PLACED.in_words(torch.tensor([[-math.log(9)]])) == ["1 (1.40)"]
    assert MOODS.in_words(torch.tensor([[0.0, math.log(2), 0.0]])) == ["glad (0.50)"]


def test_score_of_non_numeric_classes_raises_option_error() -> None:
    with pytest.raises(OptionError) as caught:
        MOODS.scores(torch.zeros(1, 3))
    assert str(caught.value) == "this judge's classes (sad, glad, angry) are not numbers: it gives no score"


def test_losses_match_hand_calculation() -> None:
    ratings = [{"labels": ["5"]}, {"labels": ["3"], "ratings": [1, 5]}]
    # All logits are equal: the loss is ln 5 for any target.
    assert RATED.losses(torch.zeros(2, 5), ratings).tolist() == pytest.approx([math.log(5)] * 2)
    # The middle, 3, is two steps from 5, and none from 3, the mean of 1 and 5.
    for classes in (STARS, ("3", "5", "1", "2", "4")):  # whatever their order
        assert JudgeClasses(classes, "mse").losses(torch.zeros(2, 1), ratings).tolist() == pytest.approx([4.0, 0.0])
