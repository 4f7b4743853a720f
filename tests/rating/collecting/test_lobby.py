"""Who meets whom, and what happens when somebody leaves."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_studies import Clock

from parlai_empathy.rating.collecting.collected_file import write_collected
from parlai_empathy.rating.collecting.collection import Collection, finished
from parlai_empathy.rating.collecting.counts import counts_of
from parlai_empathy.rating.collecting.lobby import AWAY, PATIENCE, Lobby
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.desk.outcomes import Outcome
from parlai_empathy.rating.storage.store import Store, open_store
from parlai_empathy.rating.study.study_file import read_study

JUDGED = {"empathy": 5, "relevance": 4, "understandability": 3}


def lobby_of(store: Store, clock: Clock) -> Lobby:
    return Lobby(Collection(Desk(store, read_study("collect_ed"), clock)))


@pytest.fixture
def lobby(store: Store, clock: Clock) -> Lobby:
    return lobby_of(store, clock)


def come(lobby: Lobby, *people: str) -> None:
    """Enrol people with consent and let each describe a situation."""
    for person in people:
        lobby.collection.desk.enrol(person, consented=True)
        found = lobby.collection.offer(person)
        lobby.collection.choose(found.id, person, found.offered[0], f"{person} saw a heron.")


def meet(lobby: Lobby, *people: str) -> None:
    come(lobby, *people)
    for person in people:
        lobby.wait(person)


def say(lobby: Lobby, turns: int) -> str:
    """Add turns to the only open conversation and return its id."""
    with lobby.collection.desk.store.reading() as t:
        row = t.rows("SELECT * FROM rating_conversations WHERE state = 'open'")[0]
    there = len(lobby.collection.conversation(row["id"], row["speaker"]).messages)  # type: ignore[union-attr]
    for turn in range(there + 1, there + turns + 1):
        person = row["speaker"] if turn % 2 else row["listener"]
        assert lobby.collection.say(row["id"], person, turn, f"{person} in turn {turn}.") is Outcome.STORED
    return str(row["id"])


def judge(lobby: Lobby, *people: str) -> None:
    for person in people:
        place = lobby.place(person)
        assert place.stage is Stage.JUDGE
        assert place.talk
        lobby.collection.evaluate(place.talk.id, person, JUDGED)


def stages(lobby: Lobby, *people: str) -> list[Stage]:
    return [lobby.place(person).stage for person in people]


# --- the waiting room ------------------------------------------------------------------------------------------------


def test_stages_up_to_the_waiting_room(lobby: Lobby) -> None:
    assert lobby.place("a") == Place(Stage.NEW)
    lobby.collection.desk.enrol("a")
    assert lobby.place("a") == Place(Stage.NEW)  # the study requires consent
    lobby.collection.desk.enrol("a", consented=True)
    assert lobby.place("a") == Place(Stage.PROMPT)
    assert lobby.wait("a") is None
    assert lobby.place("a") == Place(Stage.PROMPT)  # nobody waits without a situation
    come(lobby, "a")
    assert stages(lobby, "a") == [Stage.READY]
    assert lobby.wait("a", enter=False) is None
    assert stages(lobby, "a") == [Stage.READY]
    assert lobby.wait("a") is None
    assert stages(lobby, "a") == [Stage.WAITING]
    assert lobby.leave("a") is None
    assert stages(lobby, "a") == [Stage.READY]


def test_people_are_paired_in_order_of_arrival(lobby: Lobby, clock: Clock) -> None:
    come(lobby, *"abc")
    assert lobby.wait("a") is None
    clock.now += 1
    assert lobby.wait("b") == "a"
    clock.now += 1
    assert lobby.wait("c") is None
    assert stages(lobby, *"abc") == [Stage.TALK, Stage.TALK, Stage.WAITING]
    meeting = lobby.place("a").meeting
    assert meeting
    assert meeting.people == ("a", "b")  # the person who has waited longer tells first
    assert lobby.wait("a") is None  # a person in a conversation does not wait


def test_nobody_is_paired_with_themselves(lobby: Lobby) -> None:
    come(lobby, "a")
    for _ in range(3):  # in two tabs, or after a reload
        assert lobby.wait("a") is None
    assert stages(lobby, "a") == [Stage.WAITING]


def test_absent_person_is_not_paired_and_loses_their_place(lobby: Lobby, clock: Clock) -> None:
    come(lobby, *"abc")
    lobby.wait("a")
    clock.now += AWAY + 1
    assert lobby.wait("b") is None
    clock.now += 1
    assert lobby.wait("a") == "b"  # a has come back, behind b
    assert lobby.place("a").meeting.people == ("b", "a")  # type: ignore[union-attr]


def test_active_person_keeps_their_place(lobby: Lobby, clock: Clock) -> None:
    come(lobby, *"ab")
    lobby.wait("a")
    for _ in range(5):
        clock.now += AWAY - 1
        lobby.wait("a", enter=False)
    assert lobby.wait("b") == "a"


def test_closed_page_counts_as_absent_but_reloaded_page_does_not(lobby: Lobby, clock: Clock) -> None:
    come(lobby, *"abcd")
    lobby.wait("a")
    lobby.unseen("a")
    clock.now += 4
    assert lobby.wait("b") is None
    lobby.leave("b")
    lobby.wait("a")
    clock.now += 1
    lobby.unseen("a")
    clock.now += 1
    lobby.wait("a", enter=False)
    assert lobby.wait("c") == "a"
    lobby.unseen("d")  # d is not in the waiting room: no error


def test_excluded_people_are_not_paired(lobby: Lobby) -> None:
    come(lobby, *"ab")
    lobby.wait("a")
    lobby.collection.desk.exclude("a", "rude")
    assert lobby.wait("b") is None
    assert lobby.wait("a") is None
    assert stages(lobby, *"ab") == [Stage.EXCLUDED, Stage.WAITING]
    lobby.collection.desk.include("a")
    assert lobby.wait("a") == "b"


def test_concurrent_arrivals_are_paired_once(store: Store, clock: Clock) -> None:
    lobby = lobby_of(store, clock)
    people = [f"r{number}" for number in range(8)]
    come(lobby, *people)
    threads = [threading.Thread(target=lobby.wait, args=(person,)) for person in people for _ in range(2)]
    random.Random(0).shuffle(threads)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as t:
        rows = t.rows("SELECT * FROM rating_meetings")
        assert t.rows("SELECT * FROM rating_seats") == []
    assert sorted(person for row in rows for person in (row["first"], row["second"])) == people
    assert stages(lobby, *people) == [Stage.TALK] * 8


# --- a meeting -------------------------------------------------------------------------------------------------------


def test_complete_meeting_has_two_judged_conversations(lobby: Lobby, tmp_path: Path) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)  # the maximum length
    assert stages(lobby, *"ab") == [Stage.JUDGE, Stage.JUDGE]
    judge(lobby, "b")
    assert stages(lobby, *"ab") == [Stage.JUDGE, Stage.PAUSE]
    judge(lobby, "a")
    assert stages(lobby, *"ba") == [Stage.TALK, Stage.TALK]  # looking up the stage starts the second conversation
    place = lobby.place("a")
    assert place.talk
    assert (place.talk.speaker, place.talk.listener) == ("b", "a")
    assert lobby.collection.end(say(lobby, 5), "a")
    judge(lobby, *"ab")
    assert stages(lobby, *"ab") == [Stage.DONE, Stage.DONE]
    assert lobby.place("a").has_earned
    assert write_collected(lobby.collection.desk.store, lobby.collection.study, tmp_path / "x.csv") == 2


def test_person_can_meet_somebody_else_after_finishing(lobby: Lobby) -> None:
    test_lengths = (4, 4)
    meet(lobby, *"ab")
    for turns in test_lengths:
        lobby.collection.end(say(lobby, turns), "a")
        judge(lobby, *"ab")
        lobby.place("a")
    assert lobby.go_on("a")
    assert stages(lobby, *"ab") == [Stage.PROMPT, Stage.DONE]  # each decides for themselves
    assert lobby.go_on("a")  # a repeat changes nothing
    meet(lobby, *"ac")
    assert stages(lobby, *"abc") == [Stage.TALK, Stage.DONE, Stage.TALK]


def test_go_on_is_rejected_until_meeting_ends(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    assert not lobby.go_on("a")
    say(lobby, 8)
    assert not lobby.go_on("a")
    assert stages(lobby, "a") == [Stage.JUDGE]


def test_items_per_rater_limits_conversations(store: Store, clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("extends: collect_ed\nname: two\nitems_per_rater: 2\nquestions: []\n")
    lobby = Lobby(Collection(Desk(store, read_study(path), clock)))
    meet(lobby, *"ab")
    say(lobby, 8)
    lobby.place("a")
    assert lobby.place("a").stage is Stage.TALK  # no questions in between
    say(lobby, 8)
    place = lobby.place("a")
    assert (place.stage, place.can_go_on) == (Stage.DONE, False)
    assert not lobby.go_on("a")
    assert stages(lobby, "a") == [Stage.DONE]


# --- somebody leaves -------------------------------------------------------------------------------------------------


def test_abandoned_situation_can_be_told_again(lobby: Lobby, tmp_path: Path) -> None:
    meet(lobby, *"ab")
    talk = say(lobby, 3)
    told = lobby.place("a").talk
    assert lobby.leave("b") == "a"
    assert stages(lobby, *"ab") == [Stage.BROKEN, Stage.BROKEN]
    assert (lobby.place("a").left, lobby.place("b").left) == (False, True)
    assert not lobby.place("a").has_earned
    assert lobby.collection.say(talk, "b", 4, "Wait!") is Outcome.TOO_LATE
    assert not lobby.collection.end(talk, "a")
    assert lobby.leave("b") is None
    for person in "ab":
        assert lobby.go_on(person)
        assert lobby.place(person).stage is Stage.READY
    again = lobby.place("a").prompt
    assert again
    assert told
    assert (again.emotion, again.situation) == (told.prompt.emotion, told.prompt.situation)
    assert again.id != told.prompt.id
    assert lobby.place("b").prompt.situation == "b saw a heron."  # type: ignore[union-attr]
    assert lobby.wait("a") is None
    assert lobby.wait("b") == "a"
    say(lobby, 8)
    assert write_collected(lobby.collection.desk.store, lobby.collection.study, tmp_path / "x.csv") == 1
    assert "turn 8" in (tmp_path / "x.csv").read_text()


def test_what_a_partner_tells_somebody_else_is_not_part_of_the_meeting(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    lobby.leave("b")  # b has not told their situation yet
    assert lobby.go_on("b")
    assert lobby.wait("b") is None
    meet(lobby, "c")  # b tells c
    talk = say(lobby, 8)
    place = lobby.place("a")  # still at the end of their own meeting
    assert (place.stage, place.talk, place.has_earned) == (Stage.BROKEN, None, False)
    assert place.meeting
    assert talk not in [one.id for one in place.meeting.talks]
    assert lobby.go_on("a")


def test_silence_breaks_off_the_meeting(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    for _ in range(3):
        clock.now += PATIENCE - 1
        say(lobby, 1)
    clock.now += PATIENCE
    assert stages(lobby, *"ab") == [Stage.TALK, Stage.TALK]
    clock.now += 1
    assert stages(lobby, *"ab") == [Stage.BROKEN, Stage.BROKEN]
    assert (lobby.place("a").left, lobby.place("b").left) == (False, True)  # it was b's turn


def test_restart_resets_the_silence_timeout(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    say(lobby, 1)
    clock.now += 10 * PATIENCE  # the server was down
    lobby = lobby_of(lobby.collection.desk.store, clock)
    clock.now += PATIENCE
    assert stages(lobby, *"ab") == [Stage.TALK, Stage.TALK]
    clock.now += 1
    assert stages(lobby, *"ab") == [Stage.BROKEN, Stage.BROKEN]


def test_conversation_ends_that_a_new_version_no_longer_lets_go_on(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    say(lobby, 6)
    desk = lobby.collection.desk
    study = replace(desk.study, least_turns=2, most_turns=6)
    lobby = Lobby(Collection(Desk(desk.store, study, clock, new_version=True)))
    judge(lobby, *"ab")
    assert stages(lobby, *"ab") == [Stage.TALK, Stage.TALK]
    say(lobby, 6)
    judge(lobby, *"ab")
    assert [len(one.messages) for one, _ in finished(desk.store, study)] == [6, 6]


def test_completed_meetings_are_not_broken_off_later(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)
    judge(lobby, *"ab")
    lobby.place("a")
    say(lobby, 8)
    meet(lobby, *"cd")
    clock.now += PATIENCE + 1
    lobby.close_deserted()
    with lobby.collection.desk.store.reading() as t:
        rows = t.rows("SELECT * FROM rating_meetings ORDER BY first")
    assert [(row["first"], row["state"]) for row in rows] == [("a", "open"), ("c", "left")]


def test_missing_judgement_breaks_off_meeting_but_keeps_conversation(
    lobby: Lobby, clock: Clock, tmp_path: Path
) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)
    judge(lobby, "a")
    clock.now += PATIENCE + 1
    place = lobby.place("a")
    assert (place.stage, place.left, place.has_earned) == (Stage.BROKEN, False, True)
    assert stages(lobby, "b") == [Stage.JUDGE]  # still accepted
    judge(lobby, "b")
    place = lobby.place("b")
    assert (place.stage, place.left, place.has_earned) == (Stage.BROKEN, True, False)
    assert write_collected(lobby.collection.desk.store, lobby.collection.study, tmp_path / "x.csv") == 1
    # a's situation has been told to the end, so a describes another one; b has told nothing yet.
    assert lobby.go_on("a")
    assert lobby.go_on("b")
    assert stages(lobby, *"ab") == [Stage.PROMPT, Stage.READY]


def test_time_to_judge_begins_when_the_conversation_is_ended(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    talk = say(lobby, 4)
    clock.now += PATIENCE - 1
    assert lobby.collection.end(talk, "b")
    clock.now += PATIENCE
    assert lobby.collection.end(talk, "b")  # sent twice: it has ended before
    judge(lobby, *"ab")
    assert stages(lobby, *"ab") == [Stage.TALK, Stage.TALK]  # the second conversation


def test_people_who_do_not_judge_an_ended_conversation_leave(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    talk = say(lobby, 4)
    assert lobby.collection.end(talk, "b")
    clock.now += PATIENCE - 1
    assert lobby.collection.end(talk, "b")  # sent twice: no further act
    clock.now += 2
    judge(lobby, *"ab")
    assert stages(lobby, *"ab") == [Stage.BROKEN, Stage.BROKEN]


def test_long_enough_conversation_counts_if_partner_leaves(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    say(lobby, 5)
    lobby.leave("b")
    judge(lobby, "a")
    assert lobby.place("a").has_earned
    assert [len(one.messages) for one, _ in finished(lobby.collection.desk.store, lobby.collection.study)] == [5]


def test_deserted_conversation_is_exported_but_stays_open(lobby: Lobby, clock: Clock) -> None:
    store, study = lobby.collection.desk.store, lobby.collection.study
    meet(lobby, *"ab")
    say(lobby, study.least_turns - 1)
    clock.now += 100
    assert finished(store, study, clock.now) == []  # too short
    say(lobby, 1)
    assert finished(store, study, clock.now) == []  # still open
    [(found, _)] = finished(store, study, clock.now + 1)
    assert len(found.messages) == study.least_turns
    assert stages(lobby, *"ab") == [Stage.TALK, Stage.TALK]
    say(lobby, 1)


def test_leaving_long_enough_second_conversation_completes_meeting(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)
    judge(lobby, *"ab")
    lobby.place("a")
    say(lobby, 4)
    lobby.leave("b")
    judge(lobby, *"ab")
    assert stages(lobby, *"ab") == [Stage.DONE, Stage.DONE]
    assert lobby.place("b").has_earned


def test_last_judgement_has_no_timeout(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)
    judge(lobby, *"ab")
    lobby.place("a")
    say(lobby, 8)
    clock.now += 10 * PATIENCE
    judge(lobby, *"ab")
    assert stages(lobby, *"ab") == [Stage.DONE, Stage.DONE]


def test_retelling_does_not_count_emotion_twice(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    emotion = lobby.place("a").talk.prompt.emotion  # type: ignore[union-attr]
    lobby.leave("b")
    lobby.go_on("a")
    counts = {one.emotion: (one.chosen, one.whole) for one in counts_of(lobby).emotions}
    assert counts[emotion] == (1, 0)  # by a, who will tell it again
    assert sum(chosen for chosen, _ in counts.values()) == 2
    with lobby.collection.desk.store.reading() as t:
        assert len(t.rows("SELECT * FROM rating_prompts")) == 3


def test_exclusion_breaks_off_the_meeting(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    say(lobby, 3)
    lobby.collection.desk.exclude("a", "rude")
    assert stages(lobby, *"ab") == [Stage.EXCLUDED, Stage.BROKEN]  # at once
    place = lobby.place("b")
    assert place.meeting
    assert (place.left, place.meeting.whole, place.has_earned) == (False, 0, False)
    assert lobby.go_on("b") is True
    come(lobby, "c")
    lobby.wait("c")
    assert lobby.wait("b") == "c"


def test_exclusion_between_conversations_breaks_off_the_meeting(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)
    judge(lobby, *"ab")  # the next conversation would begin now
    lobby.collection.desk.exclude("a", "rude")
    assert lobby.place("b").stage is Stage.BROKEN
    assert lobby.place("b").has_earned  # b did their part


def test_exclusion_does_not_break_off_finished_meeting(lobby: Lobby) -> None:
    meet(lobby, *"ab")
    for _ in range(2):
        say(lobby, 8)
        judge(lobby, *"ab")
        lobby.place("a")
    lobby.collection.desk.exclude("a", "rude")
    assert lobby.place("b").stage is Stage.DONE


def test_counts_of_people_and_conversations(lobby: Lobby, clock: Clock) -> None:
    meet(lobby, *"ab")
    say(lobby, 8)
    judge(lobby, *"ab")
    lobby.place("a")
    come(lobby, *"cde")
    for person in "cde":
        lobby.wait(person)
    lobby.collection.desk.exclude("b", "rude")
    assert dict(counts_of(lobby).rows) == {
        "People": 5,
        "In the waiting room": 1,
        "Conversations in progress": 1,
        "Complete conversations": 1,
        "Complete conversations without excluded people": 0,
        "Conversations that broke off": 1,  # the second one of a and b, because b is excluded
        "Messages and situations that mention self-harm": 0,
    }
    clock.now += PATIENCE + 1  # nobody has been active for too long
    rows = dict(counts_of(lobby).rows)
    assert (rows["In the waiting room"], rows["Conversations in progress"], rows["Conversations that broke off"]) == (
        0,
        0,
        2,
    )
    assert {one.id: one.whole for one in counts_of(lobby).people} == {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}


# --- whatever people do ----------------------------------------------------------------------------------------------

ACTS = ("come", "wait", "leave", "say", "end", "judge", "go_on", "time", "restart")
DUE = {
    Stage.NEW: "come",
    Stage.PROMPT: "come",
    Stage.READY: "wait",
    Stage.TALK: "say",
    Stage.JUDGE: "judge",
    Stage.BROKEN: "go_on",
    Stage.DONE: "go_on",
}
"""The action that is due at each stage: without these, a random walk would not get far."""


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.tuples(st.sampled_from((*ACTS, *["due"] * 30)), st.integers(0, 4)), min_size=50, max_size=150))
def test_lobby_invariants_hold_for_any_action_sequence(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    """Five people act at random, whether or not it is their turn, and the server restarts in between."""
    path, clock = str(tmp_path_factory.mktemp("lobby") / "ratings.db"), Clock()
    lobby = lobby_of(open_store(path), clock)
    people = [f"r{number}" for number in range(5)]
    said: dict[tuple[str, int], str] = {}
    for act, number in acts:
        person, place = people[number], lobby.place(people[number])
        clock.now += 1
        match DUE.get(place.stage, "") if act == "due" else act:
            case "come" if place.stage in (Stage.NEW, Stage.PROMPT):
                come(lobby, person)
            case "wait":
                lobby.wait(person)
            case "leave":
                lobby.leave(person)
            case "say" if place.talk:
                turn, text = len(place.talk.messages) + 1, f"{person} at {clock.now}"
                if lobby.collection.say(place.talk.id, person, turn, text) is Outcome.STORED:
                    said[place.talk.id, turn] = text
            case "end" if place.talk:
                lobby.collection.end(place.talk.id, person)
            case "judge" if place.stage is Stage.JUDGE and place.talk:
                lobby.collection.evaluate(place.talk.id, person, JUDGED)
            case "go_on":
                lobby.go_on(person)
            case "time":
                clock.now += (AWAY + 1, PATIENCE + 1)[number % 2]
            case "restart":
                lobby.collection.desk.store.close()
                lobby = lobby_of(open_store(path), clock)
        check(lobby, people, said)
    lobby.collection.desk.store.close()


def check(lobby: Lobby, people: list[str], said: dict[tuple[str, int], str]) -> None:
    """Check what must hold at any time."""
    with lobby.collection.desk.store.reading() as t:
        meetings = t.rows("SELECT * FROM rating_meetings")
        talks = t.rows("SELECT * FROM rating_conversations")
        seats = {row["rater"] for row in t.rows("SELECT rater FROM rating_seats")}
        messages = t.rows("SELECT * FROM rating_messages")
    assert all(row["first"] != row["second"] for row in meetings)
    present = Counter(row["first"] for row in meetings if not row["first_gone"])
    present += Counter(row["second"] for row in meetings if not row["second_gone"])
    assert all(count == 1 for count in present.values())  # nobody is in two meetings
    assert not seats & set(present)  # nobody waits while in a meeting
    assert {(row["assignment"], row["turn"]): row["text"] for row in messages} == said  # nothing is lost
    lengths = Counter(row["assignment"] for row in messages)
    assert all(4 <= lengths[row["id"]] <= 8 for row in talks if row["state"] == "over")
    assert all(lengths[row["id"]] < 8 for row in talks if row["state"] == "open")
    assert all(lengths[row["id"]] < 4 for row in talks if row["state"] == "left")
    for row in messages:
        talk = next(one for one in talks if one["id"] == row["assignment"])
        assert row["text"].startswith(talk["speaker"] if row["turn"] % 2 else talk["listener"])
    open_talks = Counter(
        person for row in talks if row["state"] == "open" for person in (row["speaker"], row["listener"])
    )
    assert all(count == 1 for count in open_talks.values())
    for person in people:
        talk_now = lobby.place(person).talk
        assert talk_now is None or person in (talk_now.speaker, talk_now.listener)
