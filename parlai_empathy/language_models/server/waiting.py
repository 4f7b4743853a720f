"""How long to wait before a server is asked again: what it says itself, or twice as long each time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST = 60.0
"""Seconds that a wait of our own choice lasts at most."""

PATIENCE = 600.0
"""Seconds that a server may ask for at most; one that wants more has refused."""


def wait_before(attempt: int, headers: Mapping[str, str], first: float) -> float:
    """Seconds until the next attempt.

    Without a word of the server's the wait doubles each time, from ``first`` to :data:`LONGEST`, and up to half of it
    is left away by chance, so that many clients do not come back at the same moment.

    :param attempt: how many have failed, from 1.
    :param headers: of the server's last answer, with names in lower case.
    """
    asked = retry_after(headers)
    if asked is not None:
        return asked
    return min(LONGEST, first * 2.0 ** min(attempt - 1, 30)) * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait for, 0 or more; None if it does not say, or not so that it can be read.

    ``Retry-After`` is a number of seconds or a date (RFC 9110, section 10.2.3); ``retry-after-ms`` is OpenAI's own.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
