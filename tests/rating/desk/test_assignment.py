"""The guarantees of the assignment, whatever raters do, and with many raters at once."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_studies import Clock

from parlai_empathy.rating.desk import registration
from parlai_empathy.rating.desk.assignment import check_places, lots
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Assignment, Nothing, Outcome, Progress
from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.items import Item
from parlai_empathy.rating.study.questions import Likert, Preference
from parlai_empathy.rating.study.study import Check, Study

SINGLE = Study("herons", "Herons", "likert", (Likert("liking", "?"),), where="herons.yaml")
PAIR = replace(SINGLE, kind="pairwise", questions=(Preference("better", "?"),))
ANSWERS: dict[str, dict[str, object]] = {"likert": {"liking": 4}, "pairwise": {"better": "left"}}


def singles(systems: int, contexts: int) -> list[Item]:
    return [Item(str(c), f"c{c}", f"s{s}", f"{s} {c}") for s in range(systems) for c in range(contexts)]


def pairs(systems: int, contexts: int) -> list[Item]:
    names = [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    return [Item(str(c), f"c{c}", f"s{a}", "x", (), f"s{b}", "y") for a, b in names for c in range(contexts)]


@pytest.fixture
def desk_of(monkeypatch: pytest.MonkeyPatch, store: Store, clock: Clock) -> Callable[..., Desk]:
    """Makes a desk with the given items, which need no logs."""

    def make(study: Study, items: list[Item]) -> Desk:
        monkeypatch.setattr(registration, "items_of", lambda study: items)
        return Desk(store, study, clock)

    return make


def rate_all_at_once(desk: Desk, rater: str) -> list[Assignment]:
    """Like ``rate_all``, with each answer and the next item in one transaction."""
    done: list[Assignment] = []
    found: Assignment | Nothing | None = desk.next_item(rater)
    while isinstance(found, Assignment):
        done.append(found)
        outcome, found = desk.answer_and_next(found.id, rater, ANSWERS[desk.study.kind])
        assert outcome is Outcome.STORED
    return done


def rate_all(desk: Desk, rater: str, at_most: int = 10**6) -> list[Assignment]:
    """Let a rater judge until nothing is left and return the assignments."""
    done: list[Assignment] = []
    while len(done) < at_most and isinstance(found := desk.next_item(rater), Assignment):
        assert desk.answer(found.id, rater, ANSWERS[desk.study.kind]) is Outcome.STORED
        done.append(found)
    return done


# --- the protocol of Rashkin et al. 2019 -----------------------------------------------------------------------------


def test_rater_gets_each_item_from_a_different_system(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=10, ratings_per_item=1), singles(systems=10, contexts=30))
    for rater in "abc":
        systems = Counter(found.item.system for found in rate_all(desk, rater))
        assert systems == {f"s{s}": 1 for s in range(10)}


def test_systems_alternate_when_fewer_than_items_per_rater(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=10), singles(systems=3, contexts=50))
    for rater in "abc":
        systems = [found.item.system for found in rate_all(desk, rater)]
        for start in (0, 3, 6):
            assert len(set(systems[start : start + 3])) == 3
    # 30 ratings in total: each rater's tenth goes to the system with the fewest ratings.
    assert [one.done for one in desk.counts()] == [10, 10, 10]


def test_system_least_seen_by_rater_precedes_least_rated_system(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=4), singles(systems=2, contexts=40))
    firsts = {rater: rate_all(desk, rater, at_most=1)[0].item.system for rater in "abcdefghij"}
    for rater, system in firsts.items():
        if system == "s1":
            desk.exclude(rater, "so that the other system is far ahead")
    assert [one.done for one in desk.counts()] == [5, 0]
    assert [found.item.system for found in rate_all(desk, "z")] == ["s1", "s0", "s1", "s0"]


def test_study_completes_when_every_system_reaches_its_goal(desk_of: Callable[..., Desk]) -> None:
    study = replace(SINGLE, items_per_rater=10, ratings_per_system=20)
    desk = desk_of(study, singles(systems=4, contexts=60))
    raters = 0
    while desk.next_item(f"r{raters}") is not Nothing.COMPLETE:
        assert len(rate_all(desk, f"r{raters}")) == 10
        raters += 1
    # 4 x 20 ratings are 8 raters x 10: nobody came in vain, and each had a full set.
    assert raters == 8
    assert [(one.done, one.goal) for one in desk.counts()] == [(20, 20)] * 4


def test_rater_who_started_gets_full_set_after_goal_is_reached(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=5, ratings_per_system=3), singles(systems=1, contexts=20))
    assert len(rate_all(desk, "slow", at_most=1)) == 1
    assert len(rate_all(desk, "quick")) == 5
    assert desk.next_item("late") is Nothing.COMPLETE
    assert len(rate_all(desk, "slow")) == 4


def test_least_rated_items_are_assigned_first(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=3, ratings_per_item=4), singles(systems=1, contexts=6))
    for pass_ in range(1, 5):
        rate_all(desk, f"a{pass_}")
        rate_all(desk, f"b{pass_}")
        with desk.store.reading() as t:
            assert [row["filled"] for row in t.rows("SELECT filled FROM rating_items")] == [pass_] * 6


def test_ties_are_broken_reproducibly_by_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registration, "items_of", lambda study: singles(systems=2, contexts=40))

    def order(seed: int, number: int) -> list[tuple[str, str]]:
        desk = Desk(open_store(str(tmp_path / f"{seed}-{number}.db")), replace(SINGLE, seed=seed))
        return [(found.item.system, found.item.name) for found in rate_all(desk, "a")]

    assert order(1, 1) == order(1, 2)
    assert order(1, 1) != order(2, 1)


def test_system_order_depends_on_seed_and_rater(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    monkeypatch.setattr(registration, "items_of", lambda study: singles(systems=8, contexts=8))

    def order(seed: int, rater: str) -> tuple[str, ...]:
        desk = Desk(store, replace(SINGLE, name=f"seed {seed}", seed=seed, shuffled=False, items_per_rater=8))
        found = tuple(found.item.system for found in rate_all(desk, rater))
        desk.exclude(rater, "the next one is to find all systems equal again")
        return found

    # There are 8! = 40,320 orders, so no two of four should be equal.
    orders = {order(seed, rater) for seed in (1, 2) for rater in "ab"}
    assert len(orders) == 4
    assert {one[0] for one in orders} != {"s0"}
    # If all items of a rater shared one random draw, the last (or the first) of equal systems would always be chosen.
    assert not orders & {tuple(f"s{s}" for s in range(8)), tuple(f"s{s}" for s in reversed(range(8)))}


def test_tied_items_are_drawn_evenly(desk_of: Callable[..., Desk]) -> None:
    """The first item of each of 200 raters is drawn from 4, each about 50 times (the draws are not independent)."""
    study = replace(SINGLE, items_per_rater=1, ratings_per_item=None, ratings_per_system=10**6)
    desk = desk_of(study, singles(systems=1, contexts=4))
    firsts: Counter[str] = Counter()
    for rater in range(200):
        found = desk.next_item(f"r{rater}")
        assert isinstance(found, Assignment)
        firsts[found.item.name] += 1
        desk.give_back(found.id, f"r{rater}")  # so that all four stay equal
    assert all(25 <= firsts[str(c)] <= 75 for c in range(4))


def test_listed_order_follows_the_log(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, shuffled=False, items_per_rater=4), singles(systems=1, contexts=4))
    assert [found.item.name for found in rate_all(desk, "a")] == ["0", "1", "2", "3"]


def test_listed_order_is_the_same_for_every_rater(desk_of: Callable[..., Desk]) -> None:
    study = replace(SINGLE, shuffled=False, items_per_rater=4, ratings_per_item=3)
    desk = desk_of(study, singles(systems=1, contexts=4))
    for rater in "abc":
        assert [found.item.name for found in rate_all(desk, rater)] == ["0", "1", "2", "3"]


def test_lots_are_positions_if_listed_and_seeded_fractions_if_shuffled() -> None:
    assert lots(replace(SINGLE, shuffled=False), 3) == [1.0, 2.0, 3.0]
    drawn = lots(SINGLE, 100)
    assert len(set(drawn)) == 100
    assert all(0 <= lot < 1 for lot in drawn)
    assert drawn == lots(SINGLE, 100)
    assert drawn != lots(replace(SINGLE, seed=1), 100)


# --- gold checks -----------------------------------------------------------------------------------------------------


def test_checks_appear_at_rater_specific_positions(desk_of: Callable[..., Desk]) -> None:
    checks = tuple(Check((), f"check {n}", (("liking", 1.0),)) for n in range(3))
    study = replace(SINGLE, items_per_rater=7, ratings_per_item=50, checks=checks, checks_per_rater=2)
    gold = [Item(f"check-{n}", f"check-{n}", "check", "x", expected=(("liking", 1.0),)) for n in range(3)]
    desk = desk_of(study, [*singles(systems=2, contexts=20), *gold])
    places = set()
    for rater in range(12):
        found = rate_all(desk, f"r{rater}")
        where = [number for number, one in enumerate(found, start=1) if one.item.is_check]
        assert len(found) == 9
        assert set(where) == check_places(study, f"r{rater}", 9)
        assert len({one.item.name for one in found if one.item.is_check}) == 2
        places.add(tuple(where))
    assert len(places) > 6
    # 24 checks over 3 are 8 each, because the least used one comes first.
    with desk.store.reading() as t:
        assert [r["filled"] for r in t.rows("SELECT filled FROM rating_items WHERE is_check = 1")] == [8, 8, 8]


@pytest.mark.parametrize("place", [2, 4])
@pytest.mark.parametrize("is_answered", [True, False], ids=["answered", "resumed"])
def test_late_item_takes_the_place_of_no_check(
    desk_of: Callable[..., Desk], clock: Clock, place: int, is_answered: bool
) -> None:
    """Item 1 of 4 times out, and is free again when the rater has other ones. The check moves on, but is not lost."""
    study = replace(SINGLE, items_per_rater=3, minutes=1, shuffled=False)
    study = replace(study, checks=(Check((), "check", (("liking", 1.0),)),), checks_per_rater=1)
    gold = Item("check-1", "check-1", "check", "x", expected=(("liking", 1.0),))
    desk = desk_of(study, [*singles(systems=1, contexts=9), gold])
    raters = [one for one in (f"r{number}" for number in range(100)) if check_places(study, one, 4) == {place}]
    late = desk.next_item(raters[0])
    clock.now += 61
    other = desk.next_item(raters[1])
    assert isinstance(late, Assignment)
    assert isinstance(other, Assignment)
    assert late.item == other.item
    done = rate_all(desk, raters[0], at_most=place - is_answered - 1)
    if is_answered:
        assert isinstance(in_hand := desk.next_item(raters[0]), Assignment)
        assert not in_hand.item.is_check
    desk.give_back(other.id, raters[1])
    if is_answered:
        outcome = desk.answer(late.id, raters[0], ANSWERS["likert"])
        assert outcome is (Outcome.STORED if place == 2 else Outcome.TOO_LATE)
        done += [late] if outcome is Outcome.STORED else []
    done += rate_all(desk, raters[0])
    assert [one.item.is_check for one in done].index(True) == (2 if place == 2 else 3)
    assert (len(done), sum(one.item.is_check for one in done)) == (4, 1)


def test_timed_out_check_returns_to_its_rater_whatever_its_side(desk_of: Callable[..., Desk], clock: Clock) -> None:
    """A check compares no systems, so that its sides need no balance."""
    has_same_side = set()
    gold = Item("check-1", "check-1", "check", "x", (), "check_other", "y", expected=(("better", 1.0),))
    for seed in range(12):
        study = replace(PAIR, name=f"s{seed}", seed=seed, items_per_rater=1, minutes=1)
        study = replace(study, checks=(Check((), "x", (("better", 1.0),), "y"),), checks_per_rater=1)
        desk = desk_of(study, [*pairs(systems=2, contexts=3), gold])
        raters = [one for one in (f"r{number}" for number in range(100)) if check_places(study, one, 2) == {1}]
        late = desk.next_item(raters[0])
        clock.now += 61
        other = desk.next_item(raters[1])
        assert isinstance(late, Assignment)
        assert isinstance(other, Assignment)
        assert late.item == other.item == gold
        again = desk.next_item(raters[0])
        assert isinstance(again, Assignment)
        assert again.id == late.id
        has_same_side.add(late.swapped == other.swapped)
    assert has_same_side == {True, False}


def test_checks_can_appear_at_any_position(desk_of: Callable[..., Desk]) -> None:
    """Two of four places: six pairs, each with about 50 of 300 raters (standard deviation 6.5)."""
    checks = tuple(Check((), f"check {n}", (("liking", 1.0),)) for n in range(2))
    study = replace(SINGLE, checks=checks, checks_per_rater=2)
    places = Counter(tuple(sorted(check_places(study, f"r{rater}", 4))) for rater in range(300))
    assert set(places) == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}
    assert all(20 <= many <= 80 for many in places.values())
    others = [check_places(replace(study, seed=1), f"r{rater}", 4) for rater in range(300)]
    assert others != [check_places(study, f"r{rater}", 4) for rater in range(300)]


def test_checks_are_exempt_from_ratings_per_item(desk_of: Callable[..., Desk]) -> None:
    study = replace(SINGLE, items_per_rater=1, checks=(Check((), "check", (("liking", 1.0),)),), checks_per_rater=1)
    gold = Item("check-1", "check-1", "check", "x", expected=(("liking", 1.0),))
    desk = desk_of(study, [*singles(systems=1, contexts=3), gold])
    assert [sorted(found.item.is_check for found in rate_all(desk, rater)) for rater in "abc"] == [[False, True]] * 3
    assert [(one.is_check, one.done, one.goal) for one in desk.counts()] == [(False, 3, 3), (True, 3, 0)]


def test_check_already_seen_is_replaced_by_an_item(monkeypatch: pytest.MonkeyPatch, store: Store, clock: Clock) -> None:
    gold = Item("check-1", "check-1", "check", "x", expected=(("liking", 1.0),))
    monkeypatch.setattr(registration, "items_of", lambda study: [*singles(systems=1, contexts=3), gold])
    former = replace(SINGLE, items_per_rater=3, checks=(Check((), "check", (("liking", 1.0),)),), checks_per_rater=1)
    study = replace(former, seed=1)
    names = (f"r{number}" for number in range(1000))
    rater = next(one for one in names if check_places(former, one, 4) == {1} and check_places(study, one, 4) == {2})
    [found] = rate_all(Desk(store, former, clock), rater, at_most=1)
    assert found.item.is_check
    rest = rate_all(Desk(store, study, clock, new_version=True), rater)
    assert [(one.number, one.item.is_check) for one in rest] == [(2, False), (3, False), (4, False)]


@pytest.mark.parametrize("kept", [0, 1])
def test_checks_of_a_former_version_do_not_take_the_place_of_items(
    monkeypatch: pytest.MonkeyPatch, store: Store, clock: Clock, kept: int
) -> None:
    """The former version has two checks for each rater, the new one ``kept``; a rater gets three items in all."""
    gold = [Item(f"check-{n}", f"check-{n}", "check", "x", expected=(("liking", 1.0),)) for n in (1, 2)]
    checks = tuple(Check((), f"check {n}", (("liking", 1.0),)) for n in (1, 2))
    former = replace(SINGLE, items_per_rater=3, checks=checks, checks_per_rater=2)
    study = replace(former, checks=checks[:kept], checks_per_rater=kept)
    items = singles(systems=1, contexts=4)
    monkeypatch.setattr(registration, "items_of", lambda study: [*items, *gold[: len(study.checks)]])
    rater = next(one for one in (f"r{n}" for n in range(1000)) if check_places(former, one, 5) == {1, 2})
    assert [found.item.is_check for found in rate_all(Desk(store, former, clock), rater, at_most=3)] == [
        True,
        True,
        False,
    ]
    new = Desk(store, study, clock, new_version=True)
    assert new.progress(rater) == Progress(3, 5)
    late = new.next_item(rater)
    assert isinstance(late, Assignment)
    clock.now += 60 * study.minutes + 1
    assert [found.item.is_check for found in rate_all(new, rater)] == [False, False]
    assert new.progress(rater) == Progress(5, 5)
    assert new.next_item(rater) is Nothing.DONE


def test_newcomer_is_not_assigned_a_check_alone(desk_of: Callable[..., Desk]) -> None:
    study = replace(SINGLE, items_per_rater=2, checks=(Check((), "check", (("liking", 1.0),)),), checks_per_rater=1)
    gold = Item("check-1", "check-1", "check", "x", expected=(("liking", 1.0),))
    desk = desk_of(study, [*singles(systems=1, contexts=2), gold])
    newcomers = [f"r{number}" for number in range(20)]
    assert any(1 in check_places(study, rater, 3) for rater in newcomers)
    assert len(rate_all(desk, "a")) == 3
    assert {desk.next_item(rater) for rater in newcomers} == {Nothing.COMPLETE}


# --- sides -----------------------------------------------------------------------------------------------------------


def test_sides_stay_balanced_after_every_assignment(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(PAIR, items_per_rater=5, ratings_per_item=3), pairs(systems=3, contexts=7))
    swapped: dict[str, Counter[bool]] = {}
    for rater in range(13):
        for found in rate_all(desk, f"r{rater}"):
            count = swapped.setdefault(found.item.arm, Counter())
            count[found.swapped] += 1
            assert abs(count[True] - count[False]) <= 1
    # 3 pairs x 7 contexts x 3 raters = 63 ratings, by 13 raters with at most 5 each
    assert sum(map(Counter.total, swapped.values())) == 63


def test_first_side_of_each_pair_is_random(desk_of: Callable[..., Desk]) -> None:
    """The first comparisons of the 28 pairs of 8 systems; all have the same side with a probability of 2 to the -27."""
    desk = desk_of(replace(PAIR, items_per_rater=28), pairs(systems=8, contexts=28))
    first = {}
    for found in rate_all(desk, "a"):
        first.setdefault(found.item.arm, found.swapped)
    assert len(first) == 28
    assert set(first.values()) == {False, True}


def test_single_reply_is_never_swapped(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=8), singles(systems=2, contexts=8))
    for found in rate_all(desk, "a"):
        assert (found.swapped, found.left.reply) == (False, found.item.reply)


def test_left_and_right_replies_follow_the_swap(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(PAIR, items_per_rater=8), pairs(systems=2, contexts=8))
    for found in rate_all(desk, "a"):
        assert (found.left.reply, found.right.reply) == (("y", "x") if found.swapped else ("x", "y"))


def test_fixed_sides_are_never_swapped(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of(replace(PAIR, items_per_rater=8, swap_sides=False), pairs(systems=2, contexts=8))
    assert not any(found.swapped for found in rate_all(desk, "a"))


# --- the state of an assignment --------------------------------------------------------------------------------------


def row_of(desk: Desk, id: str) -> dict[str, Any]:
    with desk.store.reading() as t:
        return dict(t.rows("SELECT * FROM rating_assignments WHERE id = :id", id=id)[0])


def test_reassigned_item_gets_new_number_and_deadline(desk_of: Callable[..., Desk], clock: Clock) -> None:
    desk = desk_of(replace(SINGLE, items_per_rater=3, minutes=1, shuffled=False), singles(systems=1, contexts=3))
    first = desk.next_item("a")
    assert isinstance(first, Assignment)
    clock.now += 61
    other = desk.next_item("b")  # gets the late item
    assert isinstance(other, Assignment)
    assert other.item == first.item
    assert [row_of(desk, first.id)[key] for key in ("state", "closed")] == ["late", clock.now]
    assert len(rate_all(desk, "a", at_most=1)) == 1
    desk.give_back(other.id, "b")
    assert [row_of(desk, other.id)[key] for key in ("state", "closed")] == ["back", clock.now]
    clock.now += 5
    again = desk.next_item("a")
    assert isinstance(again, Assignment)
    assert (again.id, again.number) == (first.id, 2)
    row = row_of(desk, first.id)
    keys = ("state", "number", "opened", "deadline", "closed")
    assert tuple(row[key] for key in keys) == ("open", 2, clock.now, clock.now + 60, None)
    assert desk.assigned(first.id, "a") == again


def test_timed_out_pair_returns_to_its_rater_when_sides_are_balanced(
    desk_of: Callable[..., Desk], clock: Clock
) -> None:
    desk = desk_of(replace(PAIR, minutes=1), pairs(systems=2, contexts=1))
    found = desk.next_item("a")
    assert isinstance(found, Assignment)
    clock.now += 61
    again = desk.next_item("a")
    assert isinstance(again, Assignment)
    assert (again.id, again.swapped) == (found.id, found.swapped)


def test_returned_item_ignores_ratings_of_other_versions(
    monkeypatch: pytest.MonkeyPatch, store: Store, clock: Clock
) -> None:
    """An item that came back is free if its own version says so, however full its place in another version is."""
    monkeypatch.setattr(registration, "items_of", lambda study: singles(systems=1, contexts=1))
    former = replace(SINGLE, title="Cranes", minutes=1)
    assert len(rate_all(Desk(store, former, clock), "z")) == 1
    desk = Desk(store, replace(SINGLE, minutes=1), clock, new_version=True)
    found = desk.next_item("a")
    assert isinstance(found, Assignment)
    clock.now += 61
    again = desk.next_item("a")
    assert isinstance(again, Assignment)
    assert again.id == found.id
    assert [(one.done, one.open) for one in desk.counts()] == [(0, 1)]
    with store.reading() as t:
        filled = {row["version"]: row["filled"] for row in t.rows("SELECT version, filled FROM rating_items")}
    assert filled == {former.version: 1, desk.study.version: 1}


def test_timeouts_are_reclaimed_only_within_their_study(
    monkeypatch: pytest.MonkeyPatch, store: Store, clock: Clock
) -> None:
    monkeypatch.setattr(registration, "items_of", lambda study: singles(systems=1, contexts=2))
    one, other = (Desk(store, replace(SINGLE, name=name, minutes=1), clock) for name in ("one", "other"))
    found = one.next_item("a")
    assert isinstance(found, Assignment)
    clock.now += 61
    assert isinstance(other.next_item("a"), Assignment)
    assert row_of(one, found.id)["state"] == "open"  # the other study's transaction must not touch it
    assert isinstance(one.next_item("b"), Assignment)
    assert row_of(one, found.id)["state"] == "late"


# --- whatever raters may do ------------------------------------------------------------------------------------------

ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["next", "next", "next", "answer", "both", "both", "late", "back", "wait", "exclude", "include"]
        ),
        st.integers(0, 4),
    ),
    max_size=60,
)


@contextmanager
def made_up_desk(study: Study, items: list[Item], clock: Clock) -> Iterator[Desk]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(registration, "items_of", lambda study: items)
        store = open_store(str(Path(folder) / "ratings.db"))
        yield Desk(store, study, clock)
        store.close()


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    ACTIONS,
    st.sampled_from(["likert", "pairwise"]),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 5),
)
def test_assignment_invariants_hold_for_any_action_sequence(
    actions: list[tuple[str, int]], kind: str, systems: int, contexts: int, quota: int, per_rater: int
) -> None:
    base, made = (SINGLE, singles) if kind == "likert" else (PAIR, pairs)
    items = made(systems + (kind == "pairwise"), contexts)
    study = replace(base, ratings_per_item=quota, items_per_rater=per_rater, minutes=1)
    clock = Clock()
    with made_up_desk(study, items, clock) as desk:
        watch = Watch(desk, quota, per_rater)
        for action, rater in actions:
            clock.now += 1
            watch.act(action, f"r{rater}", clock)
            watch.check()
        watch.finish()


class Watch:
    """Acts for raters, records all that they were handed, and checks the guarantees."""

    def __init__(self, desk: Desk, quota: int, per_rater: int) -> None:
        self.desk = desk
        self.quota = quota
        self.per_rater = per_rater
        self.met: dict[tuple[str, str], str] = {}  # rater and subject -> the assignment's id
        self.hands: dict[str, Assignment] = {}  # what each rater was handed last
        self.was_included = False  # only then may an item exceed its quota

    def act(self, action: str, rater: str, clock: Clock) -> None:
        held = self.hands.get(rater)
        answers = ANSWERS[self.desk.study.kind]
        if action == "next":
            self.take(rater, self.desk.next_item(rater))
        elif action == "wait":
            clock.now += 61
        elif action == "late" and held:
            clock.now += 61
            self.act("next", "somebody else", clock)  # who may be given that very item
            self.desk.answer(held.id, rater, answers)
        elif action == "answer" and held:
            before = self.state(held.id)
            outcome = self.desk.answer(held.id, rater, answers)
            if before == "open":
                assert outcome in (Outcome.STORED, Outcome.EXCLUDED)
        elif action == "both" and held:
            was = self.state(held.id), self.desk.assigned(held.id, rater)
            outcome, found = self.desk.answer_and_next(held.id, rater, answers)
            assert outcome.is_kept or outcome in (Outcome.EXCLUDED, Outcome.TOO_LATE)
            assert outcome is not Outcome.TOO_LATE or (found, was) == (None, (self.state(held.id), held))
            self.take(rater, found)
        elif action == "back" and held:
            self.desk.give_back(held.id, rater)
        elif action == "exclude" and rater in {one.id for one in self.desk.raters()}:
            self.desk.exclude(rater, "test")
        elif action == "include" and rater in {one.id for one in self.desk.raters()}:
            self.was_included |= any(one.id == rater and one.excluded for one in self.desk.raters())
            self.desk.include(rater)

    def take(self, rater: str, found: Assignment | Nothing | None) -> None:
        held = self.hands.get(rater)
        if isinstance(found, Assignment):
            assert self.met.setdefault((rater, found.item.subject), found.id) == found.id
            assert found.number <= self.per_rater
            assert not held or held.id != found.id or self.state(found.id) == "open"
            assert self.desk.assigned(found.id, rater) == found
            self.hands[rater] = found

    def state(self, id: str) -> str:
        with self.desk.store.reading() as t:
            return str(t.rows("SELECT state FROM rating_assignments WHERE id = :id", id=id)[0]["state"])

    def rows(self) -> list[dict[str, Any]]:
        """All assignments that count: open or answered, by raters who are not excluded."""
        excluded = {one.id for one in self.desk.raters() if one.excluded}
        with self.desk.store.reading() as t:
            rows = t.rows("SELECT * FROM rating_assignments WHERE state IN ('open', 'done')")
        return [dict(row) for row in rows if row["rater"] not in excluded]

    def check(self) -> None:
        rows = self.rows()
        by_place, by_arm = Counter(row["place"] for row in rows), Counter(row["arm"] for row in rows)
        swapped = Counter(row["arm"] for row in rows if row["swapped"])
        with self.desk.store.reading() as t:
            items, arms = t.rows("SELECT * FROM rating_items"), t.rows("SELECT * FROM rating_arms")
            answers = t.rows(
                "SELECT a.id, a.state, count(b.question) AS n FROM rating_assignments AS a "
                "LEFT JOIN rating_answers AS b ON b.assignment = a.id GROUP BY a.id, a.state"
            )
        assert {row["place"]: row["filled"] for row in items} == {row["place"]: by_place[row["place"]] for row in items}
        assert {row["arm"]: (row["filled"], row["swapped"]) for row in arms} == {
            row["arm"]: (by_arm[row["arm"]], swapped[row["arm"]]) for row in arms
        }
        assert all((row["n"] == 1) == (row["state"] == "done") for row in answers)
        if not self.was_included:
            assert all(row["filled"] <= self.quota for row in items)
        per_rater = Counter(row["rater"] for row in rows)
        assert all(count <= self.per_rater for count in per_rater.values())
        assert all(Counter((row["rater"], row["state"]) for row in rows)[rater, "open"] <= 1 for rater in per_rater)

    def finish(self) -> None:
        """Let new raters do what is left: then every item has its ratings, and sides are balanced."""
        for one in self.desk.raters():
            if one.id in self.hands:
                self.desk.exclude(one.id, "their time is over")
        for number in range(200):
            if self.desk.next_item(f"new {number}") is Nothing.COMPLETE:
                break
            rate_all(self.desk, f"new {number}")
        with self.desk.store.reading() as t:
            assert {row["filled"] for row in t.rows("SELECT filled FROM rating_items")} == {self.quota}
            for row in t.rows("SELECT * FROM rating_arms"):
                if self.desk.study.kind == "pairwise" and not self.was_included:
                    assert abs(row["filled"] - 2 * row["swapped"]) <= 1


# --- many at once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", [SINGLE, PAIR], ids=["likert", "pairwise"])
def test_assignment_invariants_hold_with_concurrent_threads(desk_of: Callable[..., Desk], study: Study) -> None:
    made = (singles if study.kind == "likert" else pairs)(systems=3, contexts=8)
    desk = desk_of(replace(study, items_per_rater=6, ratings_per_item=2), made)
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            rate_all(desk, f"r{first}")  # each of 8 threads has two raters, one after the other
            rate_all_at_once(desk, f"r{first + 8}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    watch = Watch(desk, quota=2, per_rater=6)
    watch.check()
    # 3 systems (or pairs) x 8 contexts x 2 raters = 48 ratings are needed, and 16 raters can give 96.
    assert len(watch.rows()) == 48
    assert len({(row["rater"], row["subject"]) for row in watch.rows()}) == 48
