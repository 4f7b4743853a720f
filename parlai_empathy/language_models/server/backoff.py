"""How long to wait before a retry: as long as the server demands, or exponential backoff."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from datetime import timezone
from email.utils import parsedate_to_datetime

LONGEST = 60.0
"""The maximum wait of the exponential backoff, in seconds."""

PATIENCE = 600.0
"""The longest wait that a server may demand, in seconds; more counts as a refusal."""


def wait_before(attempt: int, headers: Mapping[str, str], first: float) -> float:
    """Return the number of seconds until the next attempt.

    Unless the server names a time, the wait doubles each time, from ``first`` to :data:`LONGEST`. It is shortened
    randomly by up to half, so that many clients do not retry at the same moment.

    :param attempt: the number of failed attempts, from 1.
    :param headers: those of the server's last response, with names in lower case.
    """
    asked = retry_after(headers)
    if asked is not None:
        return asked
    return min(LONGEST, first * 2.0 ** min(attempt - 1, 30)) * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait that the server demands in seconds, 0 or more; None if it is missing or cannot be parsed.

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
        when = parsedate_to_datetime(said)
        if when.tzinfo is None:  # C's old format names no zone; all HTTP dates are in UTC
            when = when.replace(tzinfo=timezone.utc)
        return max(0.0, when.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
