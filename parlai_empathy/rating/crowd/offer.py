"""What workers of Mechanical Turk are offered: the work, the reward, and who may accept it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.crowd.links import checked_url

MOST_REWARD = Decimal("100.00")
"""The maximum reward for one rater, in dollars. More is probably a typing error."""

_DOLLARS = re.compile(r"[0-9]{1,5}(\.[0-9]{1,2})?")
_COUNTRY = re.compile("[A-Z]{2}")
_DAY = 86_400
_LIMITS: dict[str, tuple[int, int]] = {  # of Mechanical Turk, in the units of `Offer`
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
    :param title: shown in the workers' list, at most 128 characters.
    :param description: at most 2,000 characters.
    :param reward: dollars for one rater, such as ``1.20``; kept with two decimals.
    :param raters: how many raters are wanted.
    :param per_hit: how many raters share a HIT. From ten on, Mechanical Turk doubles its fee.
    :param minutes: time limit for a worker.
    :param days: how long the work is offered.
    :param approval_days: days after which unreviewed work is paid automatically.
    :param frame_height: of the frame in pixels; 0 for the height of the worker's window.
    :param countries: the countries from which workers may come (ISO 3166: ``US``); empty for all.
    :param approval_rate: the percentage of a worker's earlier work that was approved must exceed this; 0 for any.
    :param approved_hits: the minimum number of a worker's earlier assignments that were approved.
    :param only_once: whether workers who have taken part in a batch of the study are excluded from all later ones.
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
        object.__setattr__(self, "reward", str(dollars("--reward", self.reward)))  # 1.2 and 1.20 are the same terms
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
        """The number of raters of each HIT."""
        whole, rest = divmod(self.raters, self.per_hit)
        return (self.per_hit,) * whole + ((rest,) if rest else ())

    @property
    def lifetime(self) -> int:
        """Seconds for which the work is offered."""
        return self.days * _DAY

    @property
    def approval_delay(self) -> int:
        """Seconds after which unreviewed work is paid automatically."""
        return self.approval_days * _DAY

    def as_record(self) -> dict[str, Any]:
        """The offer as a dictionary, for JSON."""
        return {**asdict(self), "countries": list(self.countries)}


def dollars(option: str, text: str) -> Decimal:
    """Read an amount of money.

    :raises OptionError: unless it is a number above 0 with at most two decimals, and at most :data:`MOST_REWARD`.
    """
    amount = Decimal(text) if _DOLLARS.fullmatch(text) else Decimal(0)
    if not 0 < amount <= MOST_REWARD:
        raise OptionError(f"{option} {text}: expected dollars, from 0.01 to {MOST_REWARD}, such as 1.20")
    return amount.quantize(Decimal("0.01"))
