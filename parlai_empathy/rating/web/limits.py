"""How often a client may come. All of the limits are here, and far above what people do."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

_MOST_CLIENTS = 100_000


class Rate(NamedTuple):
    """How often.

    :param per_minute: in the long run.
    :param at_once: in a moment, after a rest.
    """

    per_minute: float
    at_once: int


class Limits(NamedTuple):
    """The limits of a site.

    :param visits: pages and forms of one session.
    :param newcomers: visits without a session, from one address: a whole class may open the page at once.
    :param logins: tries to log in, from one address.
    """

    visits: Rate = Rate(240, 60)
    newcomers: Rate = Rate(60, 300)
    logins: Rate = Rate(10, 5)


LIMITS = Limits()
"""Those of a site that says nothing else."""


class Gate:
    """Lets each client pass so often: a bucket of tokens for each, which fills at an even pace.

    :param clock: seconds.
    """

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when there were so many

    def wait(self, client: str) -> float:
        """Let a client pass, or say after how many seconds they may; 0 if they have passed."""
        now = self._clock()
        tokens, then = self._buckets.pop(client, (float(self._rate.at_once), now))
        tokens = min(self._rate.at_once, tokens + (now - then) * self._rate.per_minute / 60)
        passes = tokens >= 1
        self._buckets[client] = (tokens - passes, now)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)  # who was away longest
        return 0.0 if passes else (1 - tokens) * 60 / self._rate.per_minute


def client_of(address: str) -> str:
    """What counts as one client: an address; of IPv6 the network of 64 bits, all of which a household has."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
