"""Rated replies, into which all sets are read."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.reader import RatedReply, number, one_line, scale_of, whole


@given(st.lists(st.integers(1, 5), min_size=1).map(tuple))
def test_what_people_say_is_the_mean(ratings: tuple[int, ...]) -> None:
    assert RatedReply("0", (), "Yes.", ratings).human == pytest.approx(statistics.fmean(ratings))


def test_a_text_becomes_one_line() -> None:
    assert one_line("  so\n\nmany \t lines ") == "so many lines"


@pytest.mark.parametrize(("value", "expected"), [("3", 3.0), (" 4.5 ", 4.5), (1, 1.0), ("1e0", 1.0)])
def test_a_number(value: object, expected: float) -> None:
    assert number(value, "here", 1, 5) == expected


@pytest.mark.parametrize("value", ["", "x", None, True, "nan", "inf", 0, 5.1, [3]])
def test_no_number(value: object) -> None:
    with pytest.raises(DataError, match=r"^here: .* is not a number from 1 to 5"):
        number(value, "here", 1, 5)


def test_no_number_where_any_would_do() -> None:
    with pytest.raises(DataError, match=r"^here: 'x' is not a number: use"):
        number("x", "here")


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [([0, 1, 1], (0, 1)), ([0.33, 0.67], (0, 1)), ([2, 5], (2, 3, 4, 5)), ([1.5, 4.5], (1, 2, 3, 4, 5))],
)
def test_a_scale_reaches_from_the_lowest_rating_to_the_highest(ratings: list[float], scale: tuple[int, ...]) -> None:
    assert scale_of(RatedReply("0", (), "Yes.", (rating,)) for rating in ratings) == scale


def test_a_rating_that_no_scale_has() -> None:
    """A typing error, such as two scores without a space between them: a class for each step would fill the memory."""
    replies = [RatedReply(item, (), "Yes.", (rating, 2)) for item, rating in (("a", 1), ("b", 10**12), ("c", 5))]
    with pytest.raises(DataError, match=r"^item b is rated 1e\+12 and item a 1: no scale has more than 1000 steps: "):
        scale_of(replies)
    assert len(scale_of([RatedReply("0", (), "Yes.", (0, 1000))])) == 1001


def test_half_a_character() -> None:
    assert whole("é \U0001f600", "here") == "é \U0001f600"
    with pytest.raises(
        DataError, match=r"^here: 'a.ud83d' contains half a character \(a lone surrogate\): write it whole$"
    ):
        whole("a\ud83d", "here")
