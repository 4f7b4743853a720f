"""Variance components of ratings, on simulated ratings with known shares and by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from parlai_empathy.errors import NotComputableError
from parlai_empathy.rating.analysis.variance import spread
from parlai_empathy.rating.rating import Rating


def drawn(items: int, raters: int, same_reply: float, same_item: float, sd: float = 1.5) -> list[Rating]:
    generator = np.random.default_rng(0)
    ratings = []
    for item in range(items):
        shared = same_item**0.5 * generator.normal()
        for shift, system in enumerate("AB"):
            own = (same_reply - same_item) ** 0.5 * generator.normal()
            for rater in range(raters):
                value = 3 + shift + sd * (shared + own + (1 - same_reply) ** 0.5 * generator.normal())
                ratings.append(Rating(str(item), str(rater), "q", value, system))
    return ratings


@pytest.mark.parametrize(("same_reply", "same_item"), [(0.5, 0.3), (0.3, 0.0), (0.0, 0.0), (0.8, 0.8)])
def test_known_variance_shares_are_recovered(same_reply: float, same_item: float) -> None:
    found = spread(drawn(3000, 3, same_reply, same_item))
    assert found.sd == pytest.approx(1.5, rel=0.03)
    assert found.same_reply == pytest.approx(same_reply, abs=0.03)
    assert found.same_item == pytest.approx(same_item, abs=0.03)
    assert found.mean == pytest.approx(3.5, abs=0.1)


def test_spread_matches_hand_computation() -> None:
    """One system, one reply rated 1 and 3, another 4 and 6. The total sum of squares is 13 (three degrees of freedom).
    The mean squares are 9 / 1 between replies and 4 / 2 within; with two ratings each: (9 - 2) / (9 + 2)."""
    ratings = [
        Rating(i, r, "q", v, "A") for i, r, v in (("1", "a", 1.0), ("1", "b", 3.0), ("2", "a", 4.0), ("2", "b", 6.0))
    ]
    found = spread(ratings)
    assert found.sd == pytest.approx((13 / 3) ** 0.5)
    assert found.same_reply == pytest.approx(7 / 11)
    assert found.same_item is None


def test_unbalanced_ratings_match_hand_computation() -> None:
    """One reply rated 1 and 3, another 5: the total sum of squares is 8. The mean squares are 6 / 1 between replies and
    2 / 1 within; the effective number of ratings per reply is 3 - 5 / 3 = 4 / 3: (6 - 2) / (6 + 1 / 3 * 2)."""
    ratings = [Rating("1", "a", "q", 1.0, "A"), Rating("1", "b", "q", 3.0, "A"), Rating("2", "a", "q", 5.0, "A")]
    assert spread(ratings).same_reply == pytest.approx(0.6)
    assert spread(ratings[:2]).same_reply is None  # a single reply


def test_same_item_share_does_not_exceed_same_reply_share() -> None:
    """The mean squares 8 / 4 between replies and 12 / 6 within are equal, so the share is 0: the covariance of 1
    with a variance of 2 is due to chance."""
    ratings = [
        Rating(str(i), r, "q", i + more, s) for s in "AB" for i in (1, 2, 3) for r, more in (("a", 0.0), ("b", 2.0))
    ]
    assert spread(ratings)[1:3] == (0.0, 0.0)


def test_same_item_share_uses_only_items_of_both_systems() -> None:
    """The sums of squares are 9 and 12.75, with six degrees of freedom; the covariance of 4, 4, 1 and 5, 5, 2 is 3."""
    said = {"A": {1: 1.0, 2: 4.0, 3: 4.0, 4: 1.0}, "B": {2: 5.0, 3: 5.0, 4: 2.0, 5: 1.0}}
    ratings = [Rating(str(i), "a", "q", v, system) for system, values in said.items() for i, v in values.items()]
    assert spread(ratings).same_item == pytest.approx(3 / (21.75 / 6))
    assert spread([one for one in ratings if one.item != "4"]).same_item is None  # two shared items


def test_unbalanced_ratings_recover_known_share() -> None:
    ratings = [one for one in drawn(3000, 3, 0.5, 0.3) if not (int(one.item) % 2 and one.rater == "2")]
    assert spread(ratings).same_reply == pytest.approx(0.5, abs=0.03)


def test_single_ratings_give_no_same_reply_share() -> None:
    found = spread(drawn(200, 1, 0.5, 0.3))
    assert found.same_reply is None
    assert found.same_item == pytest.approx(0.3, abs=0.1)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([], "no standard deviation: 0 rating(s) of 0 system(s) are too few"),
        (
            [Rating("1", "a", "q", 1.0, "A"), Rating("1", "a", "q", 2.0, "B")],
            "no standard deviation: 2 rating(s) of 2 system(s) are too few",
        ),
        (
            [Rating(str(i), "a", "q", 2.0, "A") for i in range(9)],
            "no standard deviation: all ratings of a system are the same",
        ),
    ],
)
def test_too_few_or_constant_ratings_raise_not_computable_error(ratings: list[Rating], message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        spread(ratings)
