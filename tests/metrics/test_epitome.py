"""EPITOME's scores of replies: by hand, by their definitions, and invalid predictions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import NotComputableError
from parlai_empathy.metrics.epitome import levels_of, squared_differences

PROBABILITIES = [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.0, 0.0, 1.0]]
_LEVELS = st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from([0, 1, 2])), min_size=1, max_size=30)


def test_levels_of_picks_the_most_probable_level() -> None:
    assert levels_of(PROBABILITIES).tolist() == [0, 1, 2]


def test_squared_differences_match_hand_calculation() -> None:
    assert squared_differences([0, 2, 1], [2, 2, 0]).tolist() == [4, 0, 1]


@given(_LEVELS)
def test_mean_squared_difference_is_computed_per_item(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    difference = squared_differences(ours, theirs).mean()
    assert difference == pytest.approx(sum((a - b) ** 2 for a, b in pairs) / len(pairs))
    assert difference == squared_differences(theirs, ours).mean()
    assert difference >= (np.mean(ours) - np.mean(theirs)) ** 2 - 1e-9  # Jensen's inequality
    assert (difference == 0) == (ours == theirs)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([], "probabilities of shape (0,): expected one row per reply, and at least one"),
        ([0.5, 0.5], "probabilities of shape (2,)"),
        ([[1, 0, 0], [0.5, 0.4, 0]], "reply 1, counted from 0: [0.5, 0.4, 0.0] are not probabilities"),
        ([[1, 0, 0], [1.5, -0.5, 0]], "reply 1, counted from 0"),
        ([[math.nan, 0, 0]], "reply 0, counted from 0"),
    ],
)
def test_invalid_probabilities_error_names_the_reply(table: list[object], expected: str) -> None:
    with pytest.raises(NotComputableError) as caught:
        levels_of(table)  # type: ignore[arg-type]
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("levels", "gold", "expected"),
    [
        ([], [], "levels of shape (0,): expected one for each reply"),
        ([1, 2], [1], "diff-EPITOME: 2 replies, but 1 from people: give one for each"),
        ([1, math.nan], [1, 1], "reply 1, counted from 0, has no level"),
        ([1, 1], [math.inf, 1], "person's reply 0, counted from 0, has no level"),
    ],
)
def test_invalid_levels_raise_one_line_error(levels: list[float], gold: list[float], expected: str) -> None:
    with pytest.raises(NotComputableError) as caught:
        squared_differences(levels, gold)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
