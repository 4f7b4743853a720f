"""The ledger records each request to a crowd before it is sent and after it has succeeded."""

from __future__ import annotations

from tiny_studies import Clock

from parlai_empathy.rating.crowd.ledger import Ledger
from parlai_empathy.rating.storage.store import Store


def test_step_is_recorded_once(store: Store, clock: Clock) -> None:
    ledger = Ledger(store, clock)
    first = ledger.begin("hit", "b/1", "b", {"token": "x"})
    again = ledger.begin("hit", "b/1", "b", {"token": "y"})
    assert (first.is_new, again.is_new) == (True, False)
    assert again.content == {"token": "x"}
    assert not again.is_done


def test_steps_persist_across_ledgers(store: Store, clock: Clock) -> None:
    Ledger(store, clock).begin("hit", "b/1", "b")
    Ledger(store, clock).finish("hit", "b/1", "HIT1")
    [step] = Ledger(store, clock).steps("hit", "b")
    assert step.is_done
    assert step.result == "HIT1"
    assert Ledger(store).steps("hit", "other") == []
    assert Ledger(store).steps("bonus") == []
