"""Rated replies, into which all sets are read."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.records import RatedReply, number, one_line, scale_of, whole


@given(st.lists(st.integers(1, 5), min_size=1).map(tuple))
def test_human_score_is_the_mean_rating(ratings: tuple[int, ...]) -> None:
    assert RatedReply("0", (), "Yes.", ratings).human == pytest.approx(statistics.fmean(ratings))


def test_one_line_collapses_whitespace() -> None:
    assert one_line("  so\n\nmany \t lines ") == "so many lines"


@pytest.mark.parametrize(("value", "expected"), [("3", 3.0), (" 4.5 ", 4.5), (1, 1.0), ("1e0", 1.0)])
def test_number_accepts_numbers_and_numeric_strings(value: object, expected: float) -> None:
    assert number(value, "here", 1, 5) == expected


@pytest.mark.parametrize("value", ["", "x", None, True, "nan", "inf", 0, 5.1, [3]])
def test_number_rejects_non_numbers_and_values_out_of_range(value: object) -> None:
    with pytest.raises(DataError, match=r"^here: .* is not a number from 1 to 5"):
        number(value, "here", 1, 5)


def test_number_without_range_rejects_non_numbers() -> None:
    with pytest.raises(DataError, match=r"^here: 'x' is not a number: use"):
        number("x", "here")


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [([0, 1, 1], (0, 1)), ([0.33, 0.67], (0, 1)), ([2, 5], (2, 3, 4, 5)), ([1.5, 4.5], (1, 2, 3, 4, 5))],
)
def test_scale_spans_lowest_to_highest_rating(ratings: list[float], scale: tuple[int, ...]) -> None:
    assert scale_of(RatedReply("0", (), "Yes.", (rating,)) for rating in ratings) == scale


def test_scale_of_more_than_1000_steps_raises_data_error() -> None:
    """A typing error, such as two scores without a space between them: a class for each step would fill the memory."""
    replies = [RatedReply(item, (), "Yes.", (rating, 2)) for item, rating in (("a", 1), ("b", 10**12), ("c", 5))]
    with pytest.raises(DataError, match=r"^item b is rated 1e\+12 and item a 1: no scale has more than 1000 steps: "):
        scale_of(replies)
    assert len(scale_of([RatedReply("0", (), "Yes.", (0, 1000))])) == 1001


def test_lone_surrogate_raises_data_error() -> None:
    assert whole("é \U0001f600", "here") == "é \U0001f600"
    with pytest.raises(
        DataError, match=r"^here: 'a.ud83d' contains half a character \(a lone surrogate\): write it whole$"
    ):
        whole("a\ud83d", "here")
