"""How long to wait before a request is retried."""

from __future__ import annotations

import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.language_models.server.backoff import LONGEST, retry_after, wait_before


@given(st.integers(1, 10_000), st.floats(0.001, 10))
def test_waits_double_up_to_the_limit(attempt: int, first: float) -> None:
    whole = min(LONGEST, first * 2 ** min(attempt - 1, 40))
    assert whole / 2 <= wait_before(attempt, {}, first) <= whole


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),  # in the past
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_retry_after_headers_are_parsed(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
    if seconds is not None:
        assert wait_before(9, headers, 0.5) == seconds


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC+8")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
@pytest.mark.parametrize("zone", ["GMT", "-0000", None])
def test_retry_after_accepts_future_dates_in_utc(zone: str | None) -> None:
    date = formatdate(time.time() + 100)  # ends in -0000
    date = date.replace("-0000", zone) if zone else time.asctime(time.gmtime(time.time() + 100))
    seconds = retry_after({"retry-after": date})
    assert seconds is not None
    assert 90 < seconds <= 100


@given(st.text())
def test_any_header_text_gives_none_or_a_nonnegative_wait(text: str) -> None:
    seconds = retry_after({"retry-after": text, "retry-after-ms": text})
    assert seconds is None or seconds >= 0
