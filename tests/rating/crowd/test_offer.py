"""The terms of a batch."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mturk_double import TERMS

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.offer import Offer, dollars


@given(st.integers(1, 300), st.integers(1, 40))
def test_raters_are_split_into_hits_of_at_most_per_hit(raters: int, per_hit: int) -> None:
    hits = Offer(**{**TERMS, "raters": raters, "per_hit": per_hit}).hits
    assert sum(hits) == raters
    assert all(1 <= one <= per_hit for one in hits)
    assert len(hits) == -(-raters // per_hit)


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("url", "http://r.example.org", "--url"),
        ("reward", "0", "--reward 0"),
        ("reward", "1,20", "--reward 1,20"),
        ("reward", "100.01", "--reward 100.01"),
        ("reward", "-1", "--reward -1"),
        ("raters", 0, "--raters 0"),
        ("per_hit", 0, "--per-hit 0"),
        ("days", 400, "--days 400"),
        ("approval_days", 31, "--approval-days 31"),
        ("approval_rate", 100, "--approval-rate 100"),
        ("title", "x" * 129, "--title"),
        ("description", " ", "--description"),
        ("countries", ("usa",), "--countries usa"),
        ("countries", ("US",) * 31, "at most 30"),
    ],
)
def test_invalid_terms_raise_option_error(name: str, value: object, wrong: str) -> None:
    with pytest.raises(OptionError, match=wrong):
        Offer(**{**TERMS, name: value})


def test_days_are_converted_to_seconds() -> None:
    offer = Offer(**TERMS, days=2, approval_days=3)
    assert (offer.lifetime, offer.approval_delay) == (172_800, 259_200)


@pytest.mark.parametrize("reward", ["1.2", "1.20", "01.20"])
def test_equal_rewards_are_the_same_terms(reward: str) -> None:
    assert Offer(**{**TERMS, "reward": reward}).as_record() == Offer(**{**TERMS, "reward": "1.20"}).as_record()
    assert Offer(**{**TERMS, "reward": reward}).reward == "1.20"


def test_dollars_have_two_decimals() -> None:
    assert dollars("--amount", "2") == Decimal("2.00")
    assert str(dollars("--amount", "0.5")) == "0.50"
