"""What workers of Mechanical Turk are offered: the work, the reward, and who may take it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.links import checked_url

MOST_REWARD = Decimal("100.00")
"""Dollars for one piece of work. More is a slip of the keyboard."""

_DOLLARS = re.compile(r"[0-9]{1,5}(\.[0-9]{1,2})?")
_COUNTRY = re.compile("[A-Z]{2}")
_DAY = 86_400
_LIMITS: dict[str, tuple[int, int]] = {  # of Mechanical Turk; times in seconds
    "raters": (1, 100_000),
    "per_hit": (1, 1_000_000_000),
    "minutes": (1, 365 * 24 * 60),
    "days": (1, 365),
    "approval_days": (0, 30),
    "frame_height": (0, 20_000),
    "approval_rate": (0, 99),
    "approved_hits": (0, 1_000_000),
}


@dataclass(frozen=True)
class Offer:
    """A batch of work.

    :param url: of the rating site, ``https``.
    :param title: as workers read it in their list, at most 128 characters.
    :param description: at most 2,000 characters.
    :param reward: dollars for one rater, as ``1.20``.
    :param raters: how many people are wanted.
    :param per_hit: how many of them share a HIT. From ten on, Mechanical Turk takes twice the fee.
    :param minutes: in which a worker has to be done.
    :param days: for which the work is offered.
    :param approval_days: after which work that nobody has looked at is paid by itself.
    :param frame_height: of the frame in pixels; 0 lets Mechanical Turk choose.
    :param countries: of which workers may be (ISO 3166: ``US``); empty for all.
    :param approval_rate: percent of a worker's former work that was approved, more than this; 0 for any.
    :param approved_hits: pieces of a worker's former work that were approved, at least.
    :param only_once: whether those who have taken part in one of the study's batches are left out of all later ones.
    """

    url: str
    title: str
    description: str
    reward: str
    raters: int
    keywords: str = ""
    per_hit: int = 9
    minutes: int = 60
    days: int = 7
    approval_days: int = 7
    frame_height: int = 0
    countries: tuple[str, ...] = ()
    approval_rate: int = 98
    approved_hits: int = 100
    only_once: bool = True

    def __post_init__(self) -> None:
        checked_url(self.url)
        dollars("--reward", self.reward)
        for name, (least, most) in _LIMITS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                option = f"--{name.replace('_', '-')}"
                raise OptionError(f"{option} {value}: expected a whole number from {least} to {most:,}")
        for name, most in (("title", 128), ("description", 2000), ("keywords", 1000)):
            text = getattr(self, name)
            if len(text) > most or (not text.strip() and name != "keywords"):
                raise OptionError(f"--{name}: it has {len(text)} characters: expected 1 to {most:,}")
        for country in self.countries:
            if not _COUNTRY.fullmatch(country):
                raise OptionError(f"--countries {country}: expected two capital letters, such as US (ISO 3166)")
        if len(self.countries) > 30:
            raise OptionError(f"--countries names {len(self.countries)}: Mechanical Turk takes at most 30")

    @property
    def hits(self) -> tuple[int, ...]:
        """How many raters each HIT has."""
        whole, rest = divmod(self.raters, self.per_hit)
        return (self.per_hit,) * whole + ((rest,) if rest else ())

    @property
    def lifetime(self) -> int:
        """Seconds for which the work is offered."""
        return self.days * _DAY

    @property
    def approval_delay(self) -> int:
        """Seconds after which work is paid by itself."""
        return self.approval_days * _DAY

    def as_record(self) -> dict[str, Any]:
        """All that it says, for JSON."""
        return {**asdict(self), "countries": list(self.countries)}


def dollars(option: str, text: str) -> Decimal:
    """An amount of money.

    :raises OptionError: unless it is a number above 0 with at most two decimals, and at most :data:`MOST_REWARD`.
    """
    amount = Decimal(text) if _DOLLARS.fullmatch(text) else Decimal(0)
    if not 0 < amount <= MOST_REWARD:
        raise OptionError(f"{option} {text}: expected dollars, from 0.01 to {MOST_REWARD}, such as 1.20")
    return amount.quantize(Decimal("0.01"))
