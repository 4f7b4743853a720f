"""What a batch costs. The fees follow Mechanical Turk's price list; expected numbers are computed by hand."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from mturk_double import TERMS

from parlai_empathy.rating.crowd.cost import bonus_cost, cost_lines, estimate, reward_fee
from parlai_empathy.rating.crowd.offer import Offer


def test_fee_is_20_percent_up_to_nine_raters_per_hit() -> None:
    # 20 x 1.20 = 24.00; the fee is 0.24 each: 4.80.
    cost = estimate(Offer(**TERMS))
    assert (cost.paid, cost.fee, cost.total) == (Decimal("24.00"), Decimal("4.80"), Decimal("28.80"))


def test_fee_is_40_percent_from_ten_raters_per_hit() -> None:
    # HITs of 10 and 10: 0.48 each. With HITs of 15 and 5 the last five cost 0.24: 15 x 0.48 + 5 x 0.24 = 8.40.
    assert estimate(Offer(**TERMS, per_hit=10)).fee == Decimal("9.60")
    assert estimate(Offer(**TERMS, per_hit=15)).fee == Decimal("8.40")


def test_fee_is_at_least_one_cent_and_rounds_half_up() -> None:
    assert reward_fee(Decimal("0.02"), 1) == Decimal("0.01")  # 0.004
    assert reward_fee(Decimal("0.52"), 1) == Decimal("0.10")  # 0.104
    assert reward_fee(Decimal("0.53"), 1) == Decimal("0.11")  # 0.106
    assert reward_fee(Decimal("0.525") * 1, 1) == Decimal("0.11")  # 0.105


def test_bonus_cost_adds_20_percent_fee() -> None:
    # The fees for 0.50 and 0.02 are 0.10 + 0.01, however many raters share the HIT.
    assert bonus_cost([Decimal("0.50"), Decimal("0.02")]) == (Decimal("0.52"), Decimal("0.11"))
    assert bonus_cost([]).total == 0


def test_cost_lines_state_rewards_fee_and_total() -> None:
    assert cost_lines(Offer(**TERMS)) == [
        "rewards    20 raters at $1.20, in 3 HIT(s) of up to 9 raters: $24.00",
        "fee        20 %: $4.80",
        "altogether $28.80 (without taxes and bonuses)",
    ]
    one = cost_lines(Offer(**{**TERMS, "raters": 1}, per_hit=1))[0]
    assert one == "rewards    1 rater at $1.20, in 1 HIT(s) of up to 1 rater: $1.20"
    assert cost_lines(Offer(**TERMS, per_hit=20))[-1] == "with --per-hit 9 it would be $28.80"


@given(st.integers(1, 200), st.integers(1, 30), st.integers(1, 10_000))
def test_fee_is_within_bounds(raters: int, per_hit: int, cents: int) -> None:
    reward = Decimal(cents) / 100
    cost = estimate(Offer(**{**TERMS, "raters": raters, "per_hit": per_hit, "reward": f"{reward:.2f}"}))
    assert cost.paid == reward * raters
    # Rounding changes each fee by at most half a cent, or raises it to one cent.
    assert cost.paid / 5 - raters * Decimal("0.005") <= cost.fee
    assert cost.fee <= max(cost.paid * 2 / 5 + raters * Decimal("0.005"), raters * Decimal("0.01"))
