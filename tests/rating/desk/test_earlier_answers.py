"""A rater's earlier answers, as a page shows them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiny_studies import LIKERT, PAIRWISE, Clock

from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.earlier_answers import QuestionCount, given, question_counts
from parlai_empathy.rating.desk.outcomes import Assignment, Progress
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study

MakeStudy = Callable[..., Study]
Log = Callable[..., str]
MANY = [
    *LIKERT["questions"],
    {"id": "kind", "text": "Which one?", "kind": "choice", "choices": ["grey", "white"], "required": False},
    {"id": "why", "text": "Why?", "kind": "text", "required": False},
]


def taken(desk: Desk, rater: str) -> Assignment:
    found = desk.next_item(rater)
    assert isinstance(found, Assignment)
    return found


def test_answers_are_returned_as_submitted(store: Store, study_of: MakeStudy, write_log: Log) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 3)}, questions=MANY))
    first = taken(desk, "ann")
    new = given(desk, first.id, "ann")
    assert new is not None
    assert (new.is_open, new.is_done, new.answers, new.seconds) == (True, False, {}, None)
    assert (new.found, new.progress) == (first, Progress(0, 3))
    desk.answer(first.id, "ann", {"liking": "4", "kind": "2", "why": " It is tall. "}, seconds=7.5)
    found = given(desk, first.id, "ann")
    assert found is not None
    assert found.answers == {"liking": "4", "kind": "white", "why": "It is tall."}
    assert (found.is_open, found.is_done, found.seconds) == (False, True, 7.5)
    assert (found.found, found.progress) == (first, Progress(1, 3))


def test_earlier_answers_link_to_previous_and_next_items(
    store: Store, study_of: MakeStudy, write_log: Log, clock: Clock
) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 3)}), clock)
    ids = []
    for _ in range(2):
        found = taken(desk, "ann")
        ids.append(found.id)
        desk.answer(found.id, "ann", {"liking": 1})
        clock.now += 1
    ids.append(taken(desk, "ann").id)
    ones = [given(desk, id, "ann") for id in ids]
    assert [(one.before, one.after) for one in ones if one] == [(None, ids[1]), (ids[0], None), (ids[1], None)]


def test_earlier_preferences_keep_the_side_shown_to_rater(store: Store, study_of: MakeStudy, write_log: Log) -> None:
    logs = {name: write_log(name, 8) for name in "AB"}
    desk = Desk(store, study_of(PAIRWISE, systems=logs, ratings_per_item=1))
    turned = set()
    for side in ("left", "right", "tie", "left", "right", "left", "tie", "right"):
        found = taken(desk, "ann")
        turned.add(found.swapped)
        desk.answer(found.id, "ann", {"better": side})
        again = given(desk, found.id, "ann")
        assert again is not None
        assert again.answers == {"better": side}
    assert turned == {True, False}


def test_earlier_answers_of_other_raters_are_not_returned(store: Store, study_of: MakeStudy, write_log: Log) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 3)}))
    found = taken(desk, "ann")
    desk.answer(found.id, "ann", {"liking": 1})
    assert given(desk, found.id, "bob") is None
    assert given(desk, "0" * 32, "ann") is None


def test_late_items_are_neither_open_nor_done(store: Store, study_of: MakeStudy, write_log: Log, clock: Clock) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 1)}, minutes=1), clock)
    found = taken(desk, "ann")
    clock.now += 61
    taken(desk, "bob")
    late = given(desk, found.id, "ann")
    assert late is not None
    assert (late.is_open, late.is_done) == (False, False)


def test_earlier_answers_of_former_version_are_not_returned(store: Store, study_of: MakeStudy, write_log: Log) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 3)}))
    found = taken(desk, "ann")
    desk.answer(found.id, "ann", {"liking": 1})
    other: dict[str, Any] = {"systems": {"A": write_log("A", 3)}, "title": "Bitterns"}
    assert given(Desk(store, study_of(LIKERT, **other), new_version=True), found.id, "ann") is None


def test_answers_are_counted_by_system_and_question(store: Store, study_of: MakeStudy, write_log: Log) -> None:
    desk = Desk(store, study_of(LIKERT, systems={"A": write_log("A", 3)}, questions=MANY, ratings_per_item=3))
    assert question_counts(desk) == []
    for rater in ("ann", "bob", "cid"):
        found = taken(desk, rater)
        desk.answer(found.id, rater, {"liking": 2, **({"why": "So."} if rater == "ann" else {})})
    assert question_counts(desk) == [QuestionCount("A", "liking", 3), QuestionCount("A", "why", 1)]
    desk.exclude("ann", "too fast")
    assert question_counts(desk) == [QuestionCount("A", "liking", 2)]
