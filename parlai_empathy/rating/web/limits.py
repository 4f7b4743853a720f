"""Rate limits for clients. All of them are here, far above what people need."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

_MOST_CLIENTS = 100_000


class Rate(NamedTuple):
    """A rate limit, enforced by a token bucket.

    :param per_minute: requests per minute, in the long run.
    :param at_once: requests in a burst, after a pause.
    """

    per_minute: float
    at_once: int


class Limits(NamedTuple):
    """The limits of a site.

    :param visits: pages and forms of one session.
    :param newcomers: requests without a session, from one address: a whole class may open the page at once.
    :param logins: login attempts from one address.
    """

    visits: Rate = Rate(240, 60)
    newcomers: Rate = Rate(60, 300)
    logins: Rate = Rate(10, 5)


LIMITS = Limits()
"""The default limits."""


class Gate:
    """Limits how often each client may pass, with a token bucket per client that refills at a constant rate.

    :param clock: returns the time in seconds.
    """

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def wait(self, client: str) -> float:
        """Let a client pass and return 0, or return the seconds until they may pass."""
        now = self._clock()
        tokens, then = self._buckets.pop(client, (float(self._rate.at_once), now))
        tokens = min(self._rate.at_once, tokens + (now - then) * self._rate.per_minute / 60)
        passes = tokens >= 1
        self._buckets[client] = (tokens - passes, now)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)  # the least recent client
        return 0.0 if passes else (1 - tokens) * 60 / self._rate.per_minute


def client_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 network of an IPv6 address (one household)."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
