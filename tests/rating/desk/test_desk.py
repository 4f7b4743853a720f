"""What a desk does for one rater after another, on both kinds of stores."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny_studies import LIKERT, PAIRWISE, Clock

from parlai_empathy.errors import OptionError, StoreError
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Assignment, Nothing, Outcome, Progress
from parlai_empathy.rating.names import NOT_EXCLUDED
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study

Make = Callable[..., Study]
Log = Callable[..., str]
LIKED = {"liking": 4}


@pytest.fixture
def desk(store: Store, study_of: Make, write_log: Log, clock: Clock) -> Desk:
    """Three items of one system, two raters per item, one minute per item."""
    study = study_of(LIKERT, systems={"A": write_log("A", 3)}, items_per_rater=2, ratings_per_item=2, minutes=1)
    return Desk(store, study, clock)


def handed(desk: Desk, rater: str) -> Assignment:
    found = desk.next_item(rater)
    assert isinstance(found, Assignment)
    return found


def stored(desk: Desk) -> list[tuple[str, float]]:
    with desk.store.reading() as t:
        rows = t.rows(
            "SELECT a.rater, b.rating FROM rating_answers AS b JOIN rating_assignments AS a ON a.id = b.assignment "
            "ORDER BY b.given, a.rater"
        )
    return [(row["rater"], row["rating"]) for row in rows]


# --- answers ---------------------------------------------------------------------------------------------------------


def test_rater_answers_items_one_after_another(desk: Desk) -> None:
    first = handed(desk, "a")
    assert (first.number, first.rater, desk.progress("a")) == (1, "a", Progress(0, 2))
    assert desk.answer(first.id, "a", LIKED) is Outcome.STORED
    second = handed(desk, "a")
    assert (second.number, desk.progress("a")) == (2, Progress(1, 2))
    assert second.item.subject != first.item.subject
    assert desk.answer(second.id, "a", LIKED) is Outcome.STORED
    assert (desk.next_item("a"), desk.progress("a")) == (Nothing.DONE, Progress(2, 2))
    assert [one.id for one in desk.answered("a")] == [first.id, second.id]


def test_item_in_hand_is_returned_again_with_new_deadline(desk: Desk, clock: Clock) -> None:
    first = handed(desk, "a")
    clock.now += 50
    again = handed(desk, "a")
    assert (again.id, again.item) == (first.id, first.item)
    assert again.deadline == clock.now + 60  # coming back restarts the time limit
    clock.now += 50
    handed(desk, "b")
    assert desk.answer(first.id, "a", LIKED) is Outcome.STORED


def test_item_in_hand_is_extended_only_after_some_seconds(desk: Desk, clock: Clock) -> None:
    first = handed(desk, "a")
    clock.now += 5  # of 60 seconds
    assert handed(desk, "a") == first
    clock.now += 2
    assert handed(desk, "a").deadline == clock.now + 60


def test_repeated_submission_is_stored_once(desk: Desk) -> None:
    found = handed(desk, "a")
    assert desk.answer(found.id, "a", LIKED, key="k") is Outcome.STORED
    assert desk.answer(found.id, "a", LIKED, key="k") is Outcome.REPEATED
    assert desk.answer(found.id, "a", {"liking": 1}, key="other") is Outcome.ALREADY
    assert stored(desk) == [("a", 4.0)]


def test_repeated_submission_without_key_is_recognized_by_answers(desk: Desk) -> None:
    found = handed(desk, "a")
    assert desk.answer(found.id, "a", {"liking": "4"}) is Outcome.STORED
    assert desk.answer(found.id, "a", {"liking": 4.0}) is Outcome.REPEATED
    assert desk.answer(found.id, "a", {"liking": 5}) is Outcome.ALREADY


def test_answer_can_be_revised(desk: Desk) -> None:
    found = handed(desk, "a")
    desk.answer(found.id, "a", LIKED)
    assert desk.answer(found.id, "a", {"liking": 2}, revise=True) is Outcome.STORED
    assert stored(desk) == [("a", 2.0)]
    assert desk.progress("a") == Progress(1, 2)


def test_revision_can_remove_an_optional_answer(store: Store, study_of: Make, write_log: Log) -> None:
    questions = [*LIKERT["questions"], {"id": "why", "text": "Why?", "kind": "text", "required": False}]
    desk = Desk(store, study_of(LIKERT, questions=questions, systems={"A": write_log("A", 1)}))
    found = handed(desk, "a")
    desk.answer(found.id, "a", {"liking": 4, "why": "because"})
    desk.answer(found.id, "a", {"liking": 4}, revise=True)
    assert stored(desk) == [("a", 4.0)]


def test_invalid_answer_stores_nothing(desk: Desk) -> None:
    found = handed(desk, "a")
    for wrong in ({"liking": 9}, {}, {"liking": 4, "else": 1}):
        with pytest.raises(OptionError):
            desk.answer(found.id, "a", wrong)
    for seconds in (-1, float("nan"), float("inf")):
        with pytest.raises(OptionError, match="expected a number of at least 0"):
            desk.answer(found.id, "a", LIKED, seconds)
    assert stored(desk) == []
    assert desk.answer(found.id, "a", LIKED) is Outcome.STORED


def test_answer_time_is_measured_unless_given(desk: Desk, clock: Clock) -> None:
    first = handed(desk, "a")
    clock.now += 12.5
    desk.answer(first.id, "a", LIKED)
    second = handed(desk, "a")
    desk.answer(second.id, "a", LIKED, seconds=3)
    with desk.store.reading() as t:
        seconds = [row["seconds"] for row in t.rows("SELECT seconds FROM rating_answers ORDER BY seconds")]
    assert seconds == [3, 12.5]


def test_rater_cannot_act_on_assignment_of_another(desk: Desk) -> None:
    found = handed(desk, "a")
    desk.enrol("b")
    assert desk.answer(found.id, "b", LIKED) is Outcome.UNKNOWN
    assert desk.answer("f" * 32, "a", LIKED) is Outcome.UNKNOWN
    assert desk.give_back(found.id, "b") is False
    assert desk.assigned(found.id, "b") is None
    assert desk.assigned(found.id, "a") == found
    assert stored(desk) == []


def test_pairwise_rating_refers_to_system_not_side(store: Store, study_of: Make, write_log: Log) -> None:
    study = study_of(PAIRWISE, systems={"A": write_log("A", 4), "B": write_log("B", 4)})
    desk = Desk(store, study)
    sides = []
    for _ in range(4):
        found = handed(desk, "a")
        desk.answer(found.id, "a", {"better": "left" if found.left.reply.startswith("A") else "right"})
        sides.append(found.swapped)
    assert sorted(sides) == [False, False, True, True]
    assert stored(desk) == [("a", 1.0)] * 4  # A was better each time, on either side


def test_tie_is_stored_as_zero_on_both_sides(store: Store, study_of: Make, write_log: Log) -> None:
    desk = Desk(store, study_of(PAIRWISE, systems={"A": write_log("A", 2), "B": write_log("B", 2)}))
    for _ in range(2):
        found = handed(desk, "a")
        desk.answer(found.id, "a", {"better": "tie"})
    assert [str(rating) for _, rating in stored(desk)] == ["0.0", "0.0"]


# --- an answer and the next item together ----------------------------------------------------------------------------


def writes(desk: Desk) -> int:
    """Return how many transactions have written to the study."""
    with desk.store.reading() as t:
        return int(t.rows("SELECT turn FROM rating_studies")[0]["turn"])


def test_answer_and_next_returns_next_item(desk: Desk) -> None:
    first = handed(desk, "a")
    outcome, second = desk.answer_and_next(first.id, "a", LIKED, seconds=3)
    assert isinstance(second, Assignment)
    assert (outcome, second.number) == (Outcome.STORED, 2)
    assert second.item.subject != first.item.subject
    assert handed(desk, "a") == desk.assigned(second.id, "a") == second
    assert desk.answer_and_next(first.id, "a", LIKED) == (Outcome.REPEATED, second)
    assert desk.answer_and_next(second.id, "a", LIKED) == (Outcome.STORED, Nothing.DONE)
    assert desk.answer_and_next(second.id, "a", {"liking": 1}, revise=True) == (Outcome.STORED, Nothing.DONE)
    assert stored(desk) == [("a", 4.0), ("a", 1.0)]


def test_answer_and_next_returns_no_item_for_rejected_answer(scarce: Desk, clock: Clock) -> None:
    found = handed(scarce, "a")
    clock.now += 61
    other = handed(scarce, "b")
    assert scarce.answer_and_next(found.id, "a", LIKED) == (Outcome.TOO_LATE, None)
    assert scarce.answer_and_next(found.id, "b", LIKED) == (Outcome.UNKNOWN, None)
    assert scarce.answer_and_next(other.id, "b", LIKED) == (Outcome.STORED, Nothing.DONE)
    assert scarce.answer_and_next(other.id, "b", {"liking": 1}) == (Outcome.ALREADY, None)
    scarce.exclude("b", "too fast")
    assert scarce.answer_and_next(other.id, "b", LIKED) == (Outcome.EXCLUDED, Nothing.EXCLUDED)
    assert stored(scarce) == [("b", 4.0)]


def test_answer_and_next_accepts_late_answer(desk: Desk, clock: Clock) -> None:
    found = handed(desk, "a")
    clock.now += 61
    handed(desk, "b")  # reclaims late items
    outcome, following = desk.answer_and_next(found.id, "a", LIKED)
    assert isinstance(following, Assignment)
    assert (outcome, following.number) == (Outcome.STORED, 2)


def test_answer_and_next_is_one_transaction(desk: Desk) -> None:
    first = handed(desk, "a")
    before = writes(desk)
    _, second = desk.answer_and_next(first.id, "a", LIKED)
    assert writes(desk) == before + 1
    assert desk.next_item("a") == second  # only reads: there is an open item with time left
    assert writes(desk) == before + 1


def test_answer_is_rolled_back_if_next_item_fails(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rater sees an error and sends the answer again: it is then stored, once."""
    first = handed(desk, "a")
    with monkeypatch.context() as broken:
        broken.setattr("parlai_empathy.rating.desk.assignment._PICK", "SELECT * FROM nowhere WHERE place = :place")
        with pytest.raises(StoreError, match="failed"):
            desk.answer_and_next(first.id, "a", LIKED)
    with monkeypatch.context() as broken:
        broken.setattr("parlai_empathy.rating.desk.assignment.secrets.token_hex", lambda length: first.id)
        with pytest.raises(
            StoreError, match=r"(?i)failed \(.*unique"
        ):  # at the very end: nobody waits for this statement
            desk.answer_and_next(first.id, "a", LIKED)
    assert stored(desk) == []
    assert [(one.done, one.open) for one in desk.counts()] == [(0, 1)]
    outcome, second = desk.answer_and_next(first.id, "a", LIKED)
    assert (outcome, stored(desk)) == (Outcome.STORED, [("a", 4.0)])
    assert second == handed(desk, "a")
    assert [(one.done, one.open) for one in desk.counts()] == [(1, 1)]


def test_concurrent_repeated_submissions_are_stored_once(desk: Desk) -> None:
    first = handed(desk, "a")
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(desk.answer_and_next, first.id, "a", LIKED) for _ in range(8)]
    outcomes, items = zip(*(one.result() for one in sent), strict=True)
    assert Counter(outcomes) == {Outcome.STORED: 1, Outcome.REPEATED: 7}
    assert set(items) == {desk.next_item("a")}
    assert stored(desk) == [("a", 4.0)]


# --- abandoned items -------------------------------------------------------------------------------------------------


@pytest.fixture
def scarce(store: Store, study_of: Make, write_log: Log, clock: Clock) -> Desk:
    """One item for one rater."""
    return Desk(store, study_of(LIKERT, systems={"A": write_log("A", 1)}, minutes=1), clock)


def test_abandoned_item_becomes_available_after_timeout(scarce: Desk, clock: Clock) -> None:
    handed(scarce, "a")
    clock.now += 60
    assert scarce.next_item("b") is Nothing.LATER
    clock.now += 0.1
    assert handed(scarce, "b").item.name == "1"


def test_timed_out_items_are_not_counted_as_open(desk: Desk, clock: Clock) -> None:
    desk.answer(handed(desk, "a").id, "a", LIKED)
    handed(desk, "a")
    clock.now += 60
    assert [(one.done, one.open) for one in desk.counts()] == [(1, 1)]
    handed(desk, "b")
    clock.now += 1
    assert [(one.done, one.open) for one in desk.counts()] == [(1, 1)]
    clock.now += 60
    assert [(one.done, one.open) for one in desk.counts()] == [(1, 0)]


def test_late_answer_is_stored_if_item_is_free(scarce: Desk, clock: Clock) -> None:
    found = handed(scarce, "a")
    clock.now += 61
    scarce.enrol("b")
    handed(scarce, "b")
    scarce.give_back(handed(scarce, "b").id, "b")
    assert scarce.answer(found.id, "a", LIKED) is Outcome.STORED
    assert scarce.next_item("c") is Nothing.COMPLETE


def test_late_answer_is_too_late_if_item_was_reassigned(scarce: Desk, clock: Clock) -> None:
    found = handed(scarce, "a")
    clock.now += 61
    other = handed(scarce, "b")
    assert scarce.answer(found.id, "a", LIKED) is Outcome.TOO_LATE
    assert scarce.next_item("a") is not Nothing.DONE
    assert scarce.answer(other.id, "b", LIKED) is Outcome.STORED
    assert stored(scarce) == [("b", 4.0)]


def test_late_answer_is_rejected_if_it_unbalances_sides(
    store: Store, study_of: Make, write_log: Log, clock: Clock
) -> None:
    """A pair for two raters. If b was given a's side, a's late answer would put both on one side."""
    late = set()
    for seed in range(12):
        systems = {"A": write_log("A", 1), "B": write_log("B", 1)}
        study = study_of(PAIRWISE, name=f"s{seed}", systems=systems, minutes=1, ratings_per_item=2, seed=seed)
        desk = Desk(store, study, clock)
        a = handed(desk, "a")
        clock.now += 61
        b = handed(desk, "b")
        desk.answer(b.id, "b", {"better": "tie"})
        outcome = desk.answer(a.id, "a", {"better": "tie"})
        assert outcome is (Outcome.TOO_LATE if a.swapped == b.swapped else Outcome.STORED)
        late.add(outcome)
    assert len(late) == 2  # both occurred


def test_late_answer_beyond_items_per_rater_is_rejected(
    store: Store, study_of: Make, write_log: Log, clock: Clock
) -> None:
    """a should answer two items of three: the first one is late and now held by b, so a answers the two others."""
    study = study_of(LIKERT, systems={"A": write_log("A", 3)}, items_per_rater=2, minutes=1, order="listed")
    desk = Desk(store, study, clock)
    first = handed(desk, "a")
    clock.now += 61
    other = handed(desk, "b")
    assert other.item == first.item
    for _ in range(2):
        desk.answer(handed(desk, "a").id, "a", LIKED)
    desk.give_back(other.id, "b")
    assert desk.answer(first.id, "a", LIKED) is Outcome.TOO_LATE
    assert desk.progress("a") == Progress(2, 2)


def test_late_answer_is_numbered_before_item_in_hand(
    store: Store, study_of: Make, write_log: Log, clock: Clock
) -> None:
    study = study_of(LIKERT, systems={"A": write_log("A", 3)}, items_per_rater=3, minutes=1, order="listed")
    desk = Desk(store, study, clock)
    first = handed(desk, "a")
    clock.now += 61
    other = handed(desk, "b")  # who now has the first item
    second = handed(desk, "a")
    assert (first.number, second.number) == (1, 1)
    desk.give_back(other.id, "b")
    assert desk.answer(first.id, "a", LIKED) is Outcome.STORED
    assert handed(desk, "a") == dataclasses.replace(second, number=2)
    desk.answer(second.id, "a", LIKED)
    desk.answer(handed(desk, "a").id, "a", LIKED)
    assert [(one.id, one.number) for one in desk.answered("a")][:2] == [(first.id, 1), (second.id, 2)]
    assert [one.number for one in desk.answered("a")] == [1, 2, 3]


def test_late_answer_is_rejected_if_item_in_hand_completes_the_set(
    store: Store, study_of: Make, write_log: Log, clock: Clock
) -> None:
    study = study_of(LIKERT, systems={"A": write_log("A", 3)}, items_per_rater=2, minutes=1, order="listed")
    desk = Desk(store, study, clock)
    first = handed(desk, "a")
    clock.now += 61
    other = handed(desk, "b")
    desk.answer(handed(desk, "a").id, "a", LIKED)
    last = handed(desk, "a")
    desk.give_back(other.id, "b")
    assert desk.answer(first.id, "a", LIKED) is Outcome.TOO_LATE
    assert desk.answer(last.id, "a", LIKED) is Outcome.STORED
    assert desk.progress("a") == Progress(2, 2)


def test_late_rater_gets_same_item_if_it_is_free(desk: Desk, clock: Clock) -> None:
    found = handed(desk, "a")
    clock.now += 1000
    again = handed(desk, "a")
    assert (again.id, again.number, again.deadline) == (found.id, 1, clock.now + 60)


def test_late_rater_does_not_get_item_held_by_another(scarce: Desk, clock: Clock) -> None:
    handed(scarce, "a")
    clock.now += 61
    handed(scarce, "b")
    assert scarce.next_item("a") is Nothing.COMPLETE


def test_item_given_back_goes_only_to_other_raters(scarce: Desk) -> None:
    found = handed(scarce, "a")
    assert scarce.give_back(found.id, "a") is True
    assert scarce.give_back(found.id, "a") is False
    assert scarce.next_item("a") is Nothing.COMPLETE
    assert scarce.answer(found.id, "a", LIKED) is Outcome.TOO_LATE
    assert handed(scarce, "b").item == found.item


# --- raters ----------------------------------------------------------------------------------------------------------


def test_consent_is_required_before_first_item(store: Store, study_of: Make, write_log: Log, clock: Clock) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 1)}, consent="Do you agree?"), clock)
    assert desk.next_item("a") is Nothing.CONSENT
    desk.enrol("a")
    assert desk.next_item("a") is Nothing.CONSENT
    began = clock.now
    desk.enrol("a", consented=True, details={"country": "FI"})
    clock.now += 5
    desk.enrol("a", consented=True, details={"device": "phone"})
    [rater] = desk.raters()
    assert (rater.consented, rater.details) == (began, {"country": "FI", "device": "phone"})
    assert desk.rater("a") == rater
    assert desk.rater("b") is None
    handed(desk, "a")


def test_changed_consent_text_requires_new_consent(store: Store, study_of: Make, write_log: Log, clock: Clock) -> None:
    systems = {"A": write_log("A", 3)}

    def desk_of(**keys: str) -> Desk:
        return Desk(store, study_of(LIKERT, systems=systems, **keys), clock, new_version=True)

    former = desk_of()  # which needs no consent, but still records when somebody begins
    former.enrol("a", consented=True, details={"country": "FI"})
    began = clock.now
    handed(former, "a")
    clock.now += 5
    asking = desk_of(consent="Do you agree?")
    assert asking.next_item("a") is Nothing.CONSENT
    asking.enrol("a", consented=True)
    assert handed(desk_of(consent="Do you agree?", title="Herons!"), "a")  # the same text
    rater = asking.rater("a")
    assert rater
    agreed = {f"agreed to {former.study.version}": str(began)}
    assert (rater.consented, rater.details) == (clock.now, {"country": "FI", **agreed})
    assert desk_of(consent="Do you agree to that, too?").next_item("a") is Nothing.CONSENT


def test_excluding_rater_frees_their_items(desk: Desk) -> None:
    for rater in "ab":
        desk.answer(handed(desk, rater).id, rater, LIKED)
    in_hand = handed(desk, "a")
    assert [(one.done, one.open, one.goal) for one in desk.counts()] == [(2, 1, 6)]
    desk.exclude("a", "all the same")
    assert [(one.done, one.open, one.goal) for one in desk.counts()] == [(1, 0, 6)]
    assert desk.next_item("a") is Nothing.EXCLUDED
    assert desk.answer(in_hand.id, "a", LIKED) is Outcome.EXCLUDED
    desk.exclude("a", "too fast")  # changes the reason, not the count
    assert [(one.id, one.excluded, one.done) for one in desk.raters()] == [("a", "too fast", 1), ("b", None, 1)]
    desk.include("a")
    desk.include("a")
    assert [(one.done, one.open) for one in desk.counts()] == [(2, 0)]
    assert handed(desk, "a").id == in_hand.id


def test_exclusion_needs_known_rater_and_reason(desk: Desk) -> None:
    desk.enrol("a")
    with pytest.raises(OptionError, match="there is no rater of that name"):
        desk.exclude("b", "x")
    with pytest.raises(OptionError, match="there is no rater of that name"):
        desk.include("b")
    with pytest.raises(OptionError, match="the reason for excluding them is empty"):
        desk.exclude("a", "  ")


@pytest.mark.parametrize("reason", NOT_EXCLUDED)
def test_exclusion_reason_that_reads_as_not_excluded_raises_option_error(desk: Desk, reason: str) -> None:
    desk.enrol("a")
    with pytest.raises(OptionError, match=f"the reason {reason.title()} would be read as not excluded"):
        desk.exclude("a", f" {reason.title()} ")


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\0b", "\ud800"])
def test_invalid_rater_name_raises_option_error(desk: Desk, name: str) -> None:
    for call in (desk.next_item, desk.enrol):
        with pytest.raises(OptionError):
            call(name)


def test_rater_names_are_not_interpreted_as_sql(desk: Desk) -> None:
    name = "Robert'); DROP TABLE rating_raters;-- :rater %s %(rater)s"
    assert desk.answer(handed(desk, name).id, name, LIKED) is Outcome.STORED
    assert [one.id for one in desk.raters()] == [name]


# --- studies and versions --------------------------------------------------------------------------------------------


def test_items_are_read_from_logs_only_once(
    store: Store, study_of: Make, write_log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(LIKERT, systems={"A": write_log("A", 2)})
    Desk(store, study)
    missing = dataclasses.replace(study.systems[0], file="gone.jsonl")
    found = handed(Desk(store, dataclasses.replace(study, systems=(missing,))), "a")
    assert found.item.reply.startswith("A says")


def test_changed_study_needs_new_version_flag(store: Store, study_of: Make, write_log: Log, clock: Clock) -> None:
    log = write_log("A", 3)
    old = Desk(store, study_of(LIKERT, systems={"A": log}, items_per_rater=3), clock)
    done = handed(old, "a")
    old.answer(done.id, "a", LIKED)
    open_one = handed(old, "a")
    study = study_of(LIKERT, systems={"A": log}, items_per_rater=3, title="Herons!")
    refusal = (
        f"has version {old.study.version} of the study herons, but this is version {study.version} (changed: title)"
    )
    with pytest.raises(OptionError, match=re.escape(refusal)):
        Desk(store, study, clock)
    new = Desk(store, study, clock, new_version=True)
    assert [(one.done, one.open) for one in new.counts()] == [(0, 0)]
    found = handed(new, "a")
    assert found.number == 2
    # The rater does not get items again that they had in the old version.
    assert found.item.subject not in (done.item.subject, open_one.item.subject)
    assert new.answer(open_one.id, "a", LIKED) is Outcome.TOO_LATE
    assert handed(new, "b")
    with pytest.raises(OptionError, match="has version"):
        Desk(store, old.study, clock)


def test_rater_whose_only_item_a_new_version_interrupted_gets_it_again(
    store: Store, study_of: Make, write_log: Log, clock: Clock
) -> None:
    """Whoever has answered something can finish without it; others would be told that the study is full."""
    log = write_log("A", 1)
    old = Desk(store, study_of(LIKERT, systems={"A": log}), clock)
    interrupted = handed(old, "a")
    new = Desk(store, study_of(LIKERT, systems={"A": log}, title="Herons!"), clock, new_version=True)
    found = handed(new, "a")
    assert (found.id != interrupted.id, found.item) == (True, interrupted.item)
    assert new.answer(interrupted.id, "a", LIKED) is Outcome.TOO_LATE
    assert new.answer(found.id, "a", LIKED) is Outcome.STORED
    assert new.next_item("a") is Nothing.DONE
    assert new.next_item("b") is Nothing.COMPLETE


def test_former_version_can_no_longer_write(store: Store, study_of: Make, write_log: Log, clock: Clock) -> None:
    log = write_log("A", 3)
    old = Desk(store, study_of(LIKERT, systems={"A": log}), clock)
    open_one = handed(old, "a")
    new = Desk(store, study_of(LIKERT, systems={"A": log}, title="Herons!"), clock, new_version=True)
    message = f"now has version {new.study.version} of the study herons, but this program has version "
    with pytest.raises(StoreError, match=message + f"{old.study.version}: restart it"):
        old.next_item("a")
    with pytest.raises(StoreError, match=message):
        old.answer(open_one.id, "a", LIKED)
    with pytest.raises(StoreError, match=message):
        old.enrol("b")
    assert [one.id for one in new.raters()] == ["a"]
    assert old.assigned(open_one.id, "a") == open_one  # what was handed out can still be read
    found = handed(new, "a")
    assert found.item.subject != open_one.item.subject
    assert new.answer(found.id, "a", LIKED) is Outcome.STORED


def test_answers_to_former_version_are_preserved(store: Store, study_of: Make, write_log: Log, clock: Clock) -> None:
    """The new version's scale has more points than the rater saw."""
    log = write_log("A", 3)
    old = Desk(store, study_of(LIKERT, systems={"A": log}), clock)
    found = handed(old, "a")
    old.answer(found.id, "a", LIKED)
    questions = [{**LIKERT["questions"][0], "points": 9}]
    new = Desk(store, study_of(LIKERT, systems={"A": log}, questions=questions), clock, new_version=True)
    assert new.answer(found.id, "a", {"liking": 9}, revise=True) is Outcome.ALREADY
    assert new.answer(found.id, "a", LIKED) is Outcome.REPEATED
    assert stored(new) == [("a", 4.0)]


def test_items_rated_in_former_version_are_not_repeated(store: Store, study_of: Make, tmp_path: Path) -> None:
    def replies(*contexts: str) -> dict[str, str]:
        path = tmp_path / "A.jsonl"
        path.write_text("".join(json.dumps({"context": [context], "reply": "Oh."}) + "\n" for context in contexts))
        return {"A": str(path)}

    def rate_all(desk: Desk, rater: str) -> list[str]:
        contexts = []
        while isinstance(found := desk.next_item(rater), Assignment):
            contexts.append(found.item.context[0])
            desk.answer(found.id, rater, LIKED)
        return sorted(contexts)

    old = Desk(store, study_of(LIKERT, systems=replies("a", "b", "c"), ratings_per_item=5))
    assert rate_all(old, "ann") == ["a", "b", "c"]
    systems = replies("c", "d", "e", "f")
    new = Desk(store, study_of(LIKERT, systems=systems, ratings_per_item=5), new_version=True)
    assert new.progress("ann") == Progress(3, 6)
    assert rate_all(new, "ann") == ["d", "e", "f"]
    assert new.progress("bob") == Progress(0, 4)
    assert rate_all(new, "bob") == ["c", "d", "e", "f"]


def test_conversations_rated_with_another_number_of_turns_are_not_repeated(
    store: Store, study_of: Make, tmp_path: Path
) -> None:
    def desk(context_turns: int | str, *contexts: str) -> Desk:
        replies = [{"context": context.split(), "reply": "Oh."} for context in contexts]
        (log := tmp_path / "A.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        study = study_of(LIKERT, systems={"A": str(log)}, context_turns=context_turns, ratings_per_item=5)
        return Desk(store, study, new_version=True)

    def rate_all(desk: Desk, rater: str) -> int:
        many = 0
        while isinstance(found := desk.next_item(rater), Assignment):
            desk.answer(found.id, rater, LIKED)
            many += 1
        return many

    assert rate_all(desk("all", "a Why? A", "b Why? B"), "ann") == 2
    assert rate_all(desk(2, "a Why? A", "b Why? B", "c Why? C"), "ann") == 1
    assert rate_all(desk(2, "b Why? B", "c Why? C", "a Why? A"), "ann") == 0
    assert rate_all(one := desk(1, "a Why? A", "b Why? B", "c Why? C"), "ann") == 0
    assert one.progress("ann") == Progress(3, 3)
    assert rate_all(one, "bob") == 3
    assert rate_all(desk("all", "c Why? C", "d Why? D", "a Why? A", "x Why? A", "b Why? B"), "ann") == 2  # d and x
    assert rate_all(desk(1, "a Why? A", "x Why? A", "b Why? B", "e Why? E"), "bob") == 1  # a and x end alike
    assert rate_all(desk(0, "a Why? A", "b Why? B", "c Why? C"), "bob") == 0

    assert rate_all(desk("all", "Yes"), "cat") == 1
    desk("all", "y Yes")
    assert rate_all(desk(1, "y Yes"), "cat") == 0  # another conversation, but these very turns


def test_studies_in_one_store_are_independent(store: Store, study_of: Make, write_log: Log) -> None:
    log = write_log("A", 1)
    desks = [Desk(store, study_of(LIKERT, name=name, systems={"A": log})) for name in ("one", "two")]
    first = handed(desks[0], "a")
    desks[0].answer(first.id, "a", LIKED)
    assert desks[1].answer(first.id, "a", LIKED) is Outcome.UNKNOWN
    assert handed(desks[1], "a").id != first.id
    assert [one.done for desk in desks for one in desk.counts()] == [1, 0]


# --- chats -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def chats(store: Store, study_of: Make, clock: Clock) -> Desk:
    """Two models, and one question about each turn."""
    good = {
        "id": "good",
        "text": "Good?",
        "kind": "choice",
        "choices": ["yes", "no"],
        "per_turn": True,
        "required": False,
    }
    study = study_of(
        {**LIKERT, "kind": "chat"},
        questions=[good, *LIKERT["questions"]],
        models={"M": "m", "N": "n"},
        items_per_rater=2,
        minutes=1,
    )
    return Desk(store, study, clock)


def test_chat_messages_and_marks_are_stored(chats: Desk) -> None:
    found = handed(chats, "a")
    assert chats.say(found.id, "a", 1, "rater", "Hello") is Outcome.STORED
    assert chats.say(found.id, "a", 1, "rater", "Hello") is Outcome.REPEATED
    assert chats.say(found.id, "a", 1, "rater", "Goodbye") is Outcome.ALREADY
    assert chats.say(found.id, "a", 2, found.item.system, "Hi!", {"emotion": "joyful"}) is Outcome.STORED
    assert chats.mark(found.id, "a", 2, {"good": "no"}) is Outcome.STORED
    assert chats.mark(found.id, "a", 2, {"good": "yes"}) is Outcome.STORED
    assert [(one.turn, one.text, one.details) for one in chats.messages(found.id, "a")] == [
        (1, "Hello", {}),
        (2, "Hi!", {"emotion": "joyful"}),
    ]
    assert chats.answer(found.id, "a", LIKED) is Outcome.STORED
    assert chats.say(found.id, "a", 3, "rater", "One more") is Outcome.TOO_LATE
    assert stored(chats) == [("a", 1.0), ("a", 4.0)]
    assert handed(chats, "a").item.system != found.item.system


def test_rater_without_judged_chat_meets_given_back_models_again(chats: Desk) -> None:
    first = handed(chats, "a")
    chats.say(first.id, "a", 1, "rater", "Hello")
    chats.give_back(first.id, "a")
    second = handed(chats, "a")
    assert second.item.system != first.item.system  # the other model comes first
    chats.give_back(second.id, "a")
    third = handed(chats, "a")
    assert third.id not in (first.id, second.id)
    assert chats.messages(third.id, "a") == []
    chats.give_back(third.id, "a")
    fourth = handed(chats, "a")
    assert {third.item.system, fourth.item.system} == {"M", "N"}
    assert chats.answer(fourth.id, "a", LIKED) is Outcome.STORED
    assert chats.next_item("a") is Nothing.DONE  # a silent model does not keep anybody from finishing
    assert {one.arm: (one.done, one.open) for one in chats.counts()} == {
        fourth.item.system: (1, 0),
        third.item.system: (0, 0),
    }


def test_model_met_in_former_version_is_not_met_again(chats: Desk, clock: Clock) -> None:
    """a had an open chat when a new version came, so a has already met that model."""
    first = handed(chats, "a")
    new = Desk(chats.store, dataclasses.replace(chats.study, title="Herons!"), clock, new_version=True)
    for _ in range(3):
        found = handed(new, "a")
        assert found.item.system != first.item.system
        new.give_back(found.id, "a")


def test_rater_whose_only_model_was_met_in_former_version_meets_it_again(chats: Desk, clock: Clock) -> None:
    study = dataclasses.replace(chats.study, name="cranes", models=chats.study.models[:1], items_per_rater=1)
    old = Desk(chats.store, study, clock)
    first = handed(old, "a")
    old.say(first.id, "a", 1, "rater", "Hello")
    for title in ("Cranes!", "Cranes!!"):
        new = Desk(chats.store, dataclasses.replace(study, title=title), clock, new_version=True)
        found = handed(new, "a")
        assert (found.item.system, new.messages(found.id, "a")) == ("M", [])
    assert new.answer(found.id, "a", LIKED) is Outcome.STORED
    assert (new.next_item("a"), new.progress("a")) == (Nothing.DONE, Progress(1, 1))


def test_chat_of_former_version_can_no_longer_be_marked(chats: Desk, clock: Clock) -> None:
    found = handed(chats, "a")
    assert chats.answer(found.id, "a", LIKED) is Outcome.STORED
    assert chats.mark(found.id, "a", 2, {"good": "no"}) is Outcome.STORED  # an ended chat of this version can be
    new = Desk(chats.store, dataclasses.replace(chats.study, title="Herons!"), clock, new_version=True)
    assert new.mark(found.id, "a", 2, {"good": "yes"}) is Outcome.ALREADY
    assert sorted(rating for _, rating in stored(new)) == [2.0, 4.0]


def test_chats_given_back_in_another_study_have_no_effect(chats: Desk, clock: Clock) -> None:
    other = Desk(chats.store, dataclasses.replace(chats.study, name="cranes"), clock)
    first = handed(other, "a")
    other.give_back(first.id, "a")
    for _ in range(3):
        chats.give_back(handed(chats, "a").id, "a")
    assert handed(other, "a").item.system != first.item.system


def test_rater_with_judged_chat_does_not_meet_given_back_model_again(chats: Desk) -> None:
    """a has given one chat back and judged the other; that b gives all chats back does not change this."""
    given_back = handed(chats, "a")
    chats.give_back(given_back.id, "a")
    chats.answer(handed(chats, "a").id, "a", LIKED)
    for _ in range(3):
        found = handed(chats, "b")
        chats.give_back(found.id, "b")
    assert chats.next_item("a") is Nothing.DONE


def test_turn_can_be_marked_one_question_at_a_time(store: Store, study_of: Make) -> None:
    marks = [{"id": id, "text": f"{id}?", "kind": "likert", "per_turn": True} for id in ("warm", "apt")]
    study = study_of({**LIKERT, "kind": "chat", "questions": [*marks, *LIKERT["questions"]]}, models={"M": "m"})
    desk = Desk(store, study)
    found = handed(desk, "a")
    for id, value in (("warm", 4), ("apt", 2)):
        assert desk.mark(found.id, "a", 2, {id: value}) is Outcome.STORED
    assert sorted(rating for _, rating in stored(desk)) == [2.0, 4.0]
    for answers in ({}, {"warm": 6}, {"warm": ""}, {"liking": 4}, {"warm": 4, "liking": 4}):
        with pytest.raises(OptionError):
            desk.mark(found.id, "a", 2, answers)


def test_messages_extend_chat_deadline(chats: Desk, clock: Clock) -> None:
    found = handed(chats, "a")
    for turn in range(1, 4):
        clock.now += 50
        chats.next_item("b")  # reclaims late items
        assert chats.say(found.id, "a", turn, "rater", "still here") is Outcome.STORED
    assert chats.answer(found.id, "a", LIKED) is Outcome.STORED


def test_resumed_late_chat_gets_next_number(store: Store, study_of: Make, clock: Clock) -> None:
    """While somebody else has a's first model, a judges another one; then the first one is free again."""
    models = {"M": "m", "N": "n", "O": "o"}
    study = study_of({**LIKERT, "kind": "chat"}, models=models, items_per_rater=2, ratings_per_item=1, minutes=1)
    desk = Desk(store, study, clock)
    first = handed(desk, "a")
    clock.now += 61
    others = [handed(desk, rater) for rater in "bcd"]  # each has a different model
    for one in others:
        if one.item.system != first.item.system:
            desk.give_back(one.id, one.rater)
    second = handed(desk, "a")
    assert (second.number, desk.answer(second.id, "a", LIKED)) == (1, Outcome.STORED)
    for one in others:
        desk.give_back(one.id, one.rater)
    assert desk.say(first.id, "a", 1, "rater", "I am back") is Outcome.STORED
    found = handed(desk, "a")
    assert (found.id, found.number) == (first.id, 2)


def test_chats_are_private_to_their_rater(chats: Desk) -> None:
    found = handed(chats, "a")
    chats.say(found.id, "a", 1, "rater", "A secret")
    chats.enrol("b")
    assert chats.messages(found.id, "b") == []
    assert chats.say(found.id, "b", 2, "rater", "x") is Outcome.UNKNOWN
    assert chats.mark(found.id, "b", 1, {"good": "yes"}) is Outcome.UNKNOWN


def test_invalid_messages_and_marks_raise_option_error(chats: Desk) -> None:
    found = handed(chats, "a")
    for turn, text in ((0, "x"), (1, "x" * 10_001), (1, "a\0"), (1, "\ud800")):
        with pytest.raises(OptionError):
            chats.say(found.id, "a", turn, "rater", text)
    with pytest.raises(OptionError):
        chats.mark(found.id, "a", 1, {"liking": 4})  # a question about the whole conversation


# --- stores that fail ------------------------------------------------------------------------------------------------


def test_store_failure_is_reported_in_one_line(desk: Desk) -> None:
    with desk.store.writing("herons") as t:
        t.run("DROP TABLE rating_raters")
    with pytest.raises(StoreError, match=r"the store .* failed \(.*rating_raters.*\): fix this") as caught:
        desk.next_item("a")
    assert "\n" not in str(caught.value)
