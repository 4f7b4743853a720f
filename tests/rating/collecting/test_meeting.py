"""The sequence of a meeting, whatever the two people do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.collecting.collection import Conversation
from parlai_empathy.rating.collecting.meeting import Duty, Meeting
from parlai_empathy.rating.collecting.prompts import Prompt
from parlai_empathy.rating.desk.messages import Said
from parlai_empathy.rating.study.study import Study
from parlai_empathy.rating.study.study_file import read_study

ED = read_study("collect_ed")
UNASKED = replace(ED, questions=())
PEOPLE = ("ann", "bob")


def conversation(number: int, speaker: str, listener: str, turns: int = 0, is_over: bool = False) -> Conversation:
    said = tuple(Said(turn, "", "Well.", {}, 0.0) for turn in range(1, turns + 1))
    prompt = Prompt(f"p{number}", speaker, (), "proud", "I saw a heron.")
    return Conversation(f"t{number}", number, prompt, speaker, listener, is_over, said)


class Played:
    """A simulated meeting: the rules of section 3 of the paper, implemented a second time."""

    def __init__(self, study: Study) -> None:
        self.meeting = Meeting(study, PEOPLE)

    def begin(self) -> None:
        meeting = self.meeting
        talk = conversation(len(meeting.talks) + 1, *meeting.next_roles)
        self.meeting = replace(meeting, talks=(*meeting.talks, talk))

    def change(self, **values: object) -> None:
        *before, talk = self.meeting.talks
        self.meeting = replace(self.meeting, talks=(*before, replace(talk, **values)))

    def say(self) -> None:
        there = self.meeting.talks[-1].messages
        turn = len(there) + 1
        self.change(messages=(*there, Said(turn, "", "Well.", {}, 0.0)), is_over=turn == self.meeting.study.most_turns)

    def judge(self, person: str) -> None:
        judged = {*self.meeting.judged, (self.meeting.talk_of(person).id, person)}  # type: ignore[union-attr]
        self.meeting = replace(self.meeting, judged=frozenset(judged))


@given(study=st.sampled_from([ED, UNASKED]), choices=st.lists(st.booleans(), min_size=40, max_size=40))
def test_every_meeting_completes(study: Study, choices: list[bool]) -> None:
    """Whoever has something to do does it, in any order; conversations end early or late."""
    played, order = Played(study), []
    for choice in choices * 2:
        meeting = played.meeting
        duties = {person: meeting.duty(person) for person in PEOPLE}
        first, second = PEOPLE if choice else PEOPLE[::-1]
        active = first if duties[first] in (Duty.SPEAK, Duty.JUDGE) else second
        order.append(duties[active])
        match duties[active]:
            case Duty.BEGIN:
                played.begin()
            case Duty.SPEAK:
                assert duties[meeting.other(active)] is Duty.LISTEN
                assert meeting.awaited == (active,)
                played.change(is_over=True) if meeting.can_end(meeting.talks[-1]) and choice else played.say()
            case Duty.JUDGE:
                assert duties[meeting.other(active)] in (Duty.JUDGE, Duty.PAUSE, Duty.NOTHING)
                played.judge(active)
            case other:
                assert other is Duty.NOTHING
                break
    meeting = played.meeting
    assert [(talk.speaker, talk.listener) for talk in meeting.talks] == [PEOPLE, PEOPLE[::-1]]
    assert all(4 <= len(talk.messages) <= 8 for talk in meeting.talks)
    assert meeting.whole == 2
    assert meeting.awaited == ()
    assert order.count(Duty.JUDGE) == (4 if study.questions else 0)
    assert {meeting.duty(person) for person in PEOPLE} == {Duty.NOTHING}


def test_second_conversation_waits_for_both_judgements() -> None:
    over = conversation(1, "ann", "bob", 4, is_over=True)
    meeting = Meeting(ED, PEOPLE, (over,))
    assert meeting.awaited == PEOPLE
    assert meeting.talk_of("ann") == over
    meeting = replace(meeting, judged=frozenset({("t1", "ann")}))
    assert (meeting.duty("ann"), meeting.duty("bob")) == (Duty.PAUSE, Duty.JUDGE)
    assert meeting.awaited == ("bob",)
    assert meeting.talk_of("ann") is None
    meeting = replace(meeting, judged=frozenset({("t1", "ann"), ("t1", "bob")}))
    assert {meeting.duty(person) for person in PEOPLE} == {Duty.BEGIN}
    assert meeting.next_roles == ("bob", "ann")
    assert meeting.awaited == ()


@pytest.mark.parametrize("turns", [0, 3, 4, 7])
def test_conversation_can_end_only_after_minimum_turns(turns: int) -> None:
    talk = conversation(1, "ann", "bob", turns)
    meeting = Meeting(ED, PEOPLE, (talk,))
    assert meeting.can_end(talk) is (turns >= 4)
    assert meeting.duty("ann") is (Duty.LISTEN if turns % 2 else Duty.SPEAK)
    assert not replace(meeting, is_broken=True).can_end(talk)


def test_finished_conversation_of_broken_meeting_is_still_judged() -> None:
    talks = (conversation(1, "ann", "bob", 4, is_over=True), conversation(2, "bob", "ann", 2))
    meeting = Meeting(ED, PEOPLE, talks, frozenset({("t1", "bob")}), is_broken=True)
    assert meeting.duty("ann") is Duty.JUDGE
    assert meeting.duty("bob") is Duty.NOTHING
    assert meeting.talk_of("ann") == talks[0]
    assert meeting.talk_of("bob") is None
    assert meeting.awaited == ()
    assert meeting.whole == 1
