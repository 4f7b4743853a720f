"""The cost of a batch or of bonuses with Mechanical Turk's fee, to be shown before any money is spent.

The fee (https://www.mturk.com/pricing): 20 % of rewards and bonuses; another 20 % of the reward if a HIT has ten
assignments or more; at least $0.01 for each assignment and each bonus; half a cent is rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from parlai_empathy.rating.crowd.offer import Offer, dollars
from parlai_empathy.rating.wording import counted

CENT = Decimal("0.01")
FEE = Decimal("0.20")
MANY = 10
"""The number of assignments of a HIT from which the fee on rewards is doubled."""


class Cost(NamedTuple):
    """Costs in dollars.

    :param paid: to workers.
    :param fee: to Mechanical Turk.
    """

    paid: Decimal
    fee: Decimal

    @property
    def total(self) -> Decimal:
        """The sum of both."""
        return self.paid + self.fee


def estimate(offer: Offer) -> Cost:
    """The cost of a batch if all of its work is done and approved, without taxes and bonuses."""
    reward = dollars("--reward", offer.reward)
    fee = sum((many * reward_fee(reward, many) for many in offer.hits), Decimal(0))
    return Cost(reward * offer.raters, fee)


def reward_fee(reward: Decimal, assignments: int) -> Decimal:
    """The fee on one reward, for a HIT with this number of assignments."""
    return _fee(reward, 2 * FEE if assignments >= MANY else FEE)


def bonus_cost(amounts: Iterable[Decimal]) -> Cost:
    """The cost of bonuses."""
    amounts = list(amounts)
    return Cost(sum(amounts, Decimal(0)), sum((_fee(one, FEE) for one in amounts), Decimal(0)))


def cost_lines(offer: Offer) -> list[str]:
    """The estimate in words, to be confirmed by the user."""
    cost, hits, each = estimate(offer), offer.hits, dollars("--reward", offer.reward)
    shares = f"{len(hits)} HIT(s) of up to {counted(offer.per_hit, 'rater')}"
    rate = "40 % (20 % where a HIT has fewer than ten)" if max(hits) >= MANY else "20 %"
    lines = [
        f"rewards    {counted(offer.raters, 'rater')} at ${each}, in {shares}: ${cost.paid:,}",
        f"fee        {rate}: ${cost.fee:,}",
        f"altogether ${cost.total:,} (without taxes and bonuses)",
    ]
    if max(hits) >= MANY:
        cheaper = estimate(replace(offer, per_hit=MANY - 1)).total
        lines.append(f"with --per-hit 9 it would be ${cheaper:,}")
    return lines


def _fee(amount: Decimal, rate: Decimal) -> Decimal:
    return max(CENT, (amount * rate).quantize(CENT, ROUND_HALF_UP))
