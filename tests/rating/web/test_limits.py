"""Rate limits for clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_studies import Clock

from parlai_empathy.rating.web import limits
from parlai_empathy.rating.web.limits import Gate, Rate, client_of


def test_bucket_empties_and_refills() -> None:
    clock = Clock()
    gate = Gate(Rate(30, 2), clock)
    assert [gate.wait("ann") for _ in range(3)] == [0, 0, 2.0]  # a token every two seconds
    assert gate.wait("bob") == 0
    clock.now += 1
    assert gate.wait("ann") == pytest.approx(1.0)
    clock.now += 1
    assert [gate.wait("ann"), gate.wait("ann")] == [0, pytest.approx(2.0)]
    clock.now += 3600
    assert [gate.wait("ann") for _ in range(3)] == [0, 0, pytest.approx(2.0)]  # never more than two at once


@given(st.lists(st.floats(0, 10), max_size=60))
def test_rate_limit_is_never_exceeded(pauses: list[float]) -> None:
    clock = Clock()
    gate = Gate(Rate(60, 3), clock)
    begun, passed = clock.now, 0
    for pause in pauses:
        clock.now += pause
        passed += gate.wait("ann") == 0
    assert passed <= 3 + (clock.now - begun) + 1e-6


def test_number_of_remembered_clients_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_CLIENTS", 10)
    gate = Gate(Rate(60, 1), Clock())
    for number in range(1000):
        assert gate.wait(str(number)) == 0
    assert len(gate._buckets) == 10
    assert gate.wait("999") > 0


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("a socket", "a socket"),
    ],
)
def test_clients_are_ipv4_addresses_or_ipv6_64_prefixes(address: str, client: str) -> None:
    assert client_of(address) == client
