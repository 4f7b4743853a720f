"""The pages of a collection for visitors without scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collecting_lab import EVIL, Lab, describe, judge, meet, prompt_form, said, say, talk
from markup import landmarks, text_boxes
from web_visitor import Visitor

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.collecting import counts
from parlai_empathy.rating.collecting.lobby import PATIENCE, Lobby
from parlai_empathy.rating.collecting.place import Place, Stage
from parlai_empathy.rating.collecting.site import collect_site
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.study.study_file import read_study
from parlai_empathy.rating.talking.distress import speaks_of_self_harm
from parlai_empathy.tasks.empathetic_dialogues.reader import SelfEvaluation, read_empathetic_dialogues

Make = Callable[..., Lab]


def first_emotion(visitor: Visitor) -> str:
    return re.findall(r'name="q-emotion" id="[^"]*" value="([^"]+)"', visitor.page.text)[0]


def exported(lab: Lab, tmp_path: Path) -> list[Any]:
    """Return the dialogues of the administrator's file, read by the data set's reader."""
    page = lab.admin().get("/admin/conversations.csv")
    assert page.status == 200, page.words
    (tmp_path / "collected.csv").write_bytes(page.content)
    return list(read_empathetic_dialogues(tmp_path / "collected.csv"))


# --- from start to finish --------------------------------------------------------------------------------------------


def test_collection_from_consent_to_exported_file(lab: Make, tmp_path: Path) -> None:
    site = lab()
    first = site.visitor()
    assert "The other person may tell of sad or frightening things." in first.get("/").words
    assert first.post("/consent", {}).status == 422
    assert "First you choose one of three feelings" in first.post("/consent", {"agree": "yes"}).words
    first.get("/rate")
    assert "You are in the waiting room." in describe(first, "A heron stood in my garden.").words
    site.clock.now += 1
    second = site.person()
    assert "The other person begins." in describe(second, "I fell into the pond.", place=1).words
    assert "You begin." in first.get("/talk").words
    talk(first, second, turns=5)
    assert "How was conversation 1?" in first.get("/talk").words
    assert "The other person's last message: Message 5, well." in second.get("/talk").words
    assert "One moment" in judge(first).words
    assert "You talk about your situation" in judge(second, **{"q-empathy": "1"}).words
    assert "You listen." in first.get("/talk").words
    talk(second, first, turns=8, end=False)  # it ends by itself
    for one in (first, second):
        assert "Thank you!" in judge(one).words
    dialogues = exported(site, tmp_path)
    assert [(one.situation, len(one.turns)) for one in dialogues] == [
        ("A heron stood in my garden.", 5),
        ("I fell into the pond.", 8),
    ]
    assert dialogues[0].self_evaluations == (SelfEvaluation(5, 4, 3), SelfEvaluation(1, 4, 3))
    assert [turn.text for turn in dialogues[0].turns] == [f"Message {turn}, well." for turn in range(1, 6)]
    assert [turn.worker for turn in dialogues[1].turns] == ["1", "0"] * 4


def test_completion_code_is_shown_at_the_end(lab: Make, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("extends: collect_ed\nitems_per_rater: 2\ncompletion: {code: HERON-7}\n")
    for one in meet(lab(study=str(path))):
        assert "Your code: HERON-7" in one.get("/talk").words
        assert "Talk with somebody else" not in one.page.words  # the study requires only two conversations


def test_earned_code_and_link_are_kept_if_people_go_on(lab: Make, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("extends: collect_ed\ncompletion: {code: HERON-7}\n")
    site = lab(study=str(path))
    first, _ = meet(site)
    crowd = {"crowd": "prolific", "submit_to": ""}
    site.desk.enrol(site.desk.raters()[0].id, details=crowd)

    def is_shown(headline: str) -> bool:
        assert headline in first.page.words
        return "Your code: HERON-7" in first.page.words and "submissions/complete?cc=HERON-7" in first.page.text

    first.post("/again")
    assert is_shown("A situation of your own")
    describe(first, "")
    assert is_shown("Error: Write an answer.")
    describe(first, "I lost my keys.")
    assert is_shown("You are in the waiting room.")
    first.post("/leave", {"place": first.page.hidden("place")})
    assert is_shown("Ready when you are")
    first.post("/wait")
    second = site.waiting("I won a cake.")
    assert "code" not in second.page.words
    first.get("/talk")
    first.post("/leave", {"place": first.page.hidden("place")})
    assert is_shown("You have left this meeting")
    assert "The other person has left" in second.get("/talk").words
    assert "code" not in second.page.words


def test_landmarks_of_the_admin_page_have_names_of_their_own(lab: Make) -> None:
    assert landmarks(lab().admin().page.text) == [
        *("Now", "Table of counts", "Export", "People", "Table of people", "Emotions", "Table of emotions"),
    ]


def test_text_boxes_follow_the_direction_of_their_language(lab: Make) -> None:
    site = lab()
    for visitor in (site.person(), site.pair()[0]):
        (box,) = text_boxes(visitor.page.text)
        assert 'dir="auto"' in box


def test_listener_does_not_see_the_prompt(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    emotions = [row.emotion for row in (site.lobby.place(one.id).talk.prompt for one in site.desk.raters())]  # type: ignore
    for turn in range(3):
        say((first, second)[turn % 2], "Well.")
        page = second.get("/talk")
        assert "heron" not in page.text
        assert emotions[0] not in page.words
    assert "A heron stood in my garden." in first.get("/talk").words
    assert "pond" not in first.page.text  # the other prompt is not shown early, either


def test_person_can_meet_somebody_else_after_finishing(lab: Make) -> None:
    site = lab()
    first, second = meet(site)
    assert "A situation of your own" in first.post("/again").words
    describe(first, "I lost my keys.")
    assert "You are in the waiting room." in first.page.words
    third = site.waiting("I won a cake.")
    assert "The other person begins." in third.page.words
    assert "Thank you!" in second.get("/talk").words


# --- the prompt ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("situation", "wrong"),
    [
        ("", "Write an answer."),
        (" ", "Write an answer."),
        ("One. Two. Three. Four.", "Describe it in at most 3 sentences; these are 4."),
        ("x" * 1001, "Write at most 1,000 characters; this is 1,001."),
        ("a\0b", "This contains a character that cannot be stored."),
    ],
)
def test_invalid_situation_is_rejected_and_can_be_corrected(lab: Make, situation: str, wrong: str) -> None:
    person = lab().person()
    page = describe(person, situation)
    assert page.status == 422
    assert wrong in page.words
    assert page.text.count(" checked") == 1  # the emotion stays selected
    assert "You are in the waiting room." in describe(person, "Two.\r\nLines.").words


@pytest.mark.parametrize("emotion", ["", "furry", "1", EVIL])
def test_emotion_not_offered_is_rejected(lab: Make, emotion: str) -> None:
    person = lab().person()
    page = person.post("/prompt", prompt_form(person, emotion, EVIL))
    assert page.status == 422
    assert "Choose one of the answers." in page.words
    assert "<script>" not in page.text.replace("<script src", "")


def test_repeated_prompt_is_stored_once(lab: Make) -> None:
    site = lab()
    person = site.person()
    form = prompt_form(person, first_emotion(person), "I saw a heron.")
    token = person.page.hidden("token")
    for _ in range(2):
        person.post("/prompt", form, token=token)
        assert "You are in the waiting room." in person.page.words
    with site.store.reading() as t:
        assert len(t.rows("SELECT * FROM rating_prompts")) == 1


def test_concurrent_prompts_are_stored_once(lab: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    site = lab()
    person = site.person()
    form = prompt_form(person, first_emotion(person), "I saw a heron.")
    token = person.page.hidden("token")
    person.post("/prompt", form, token=token)
    # A request that looked up the visitor's stage before the first form was stored still sees PROMPT.
    monkeypatch.setattr(Lobby, "place", lambda *_: Place(Stage.PROMPT))
    for other in ({}, {"q-situation": "I saw a crane."}):
        page = person.post("/prompt", {**form, **other}, token=token, follow=False)
        assert (page.status, page.location) == (303, "/talk")
    with site.store.reading() as t:
        assert [row["situation"] for row in t.rows("SELECT * FROM rating_prompts")] == ["I saw a heron."]


def test_prompt_of_another_person_is_rejected(lab: Make) -> None:
    site = lab()
    one, other = site.person(), site.person()
    form = prompt_form(other, first_emotion(other), "I saw a heron.")
    assert "A situation of your own" in one.post("/prompt", form).words
    assert "A situation of your own" in other.get("/talk").words


# --- the waiting room ------------------------------------------------------------------------------------------------


def test_person_can_leave_and_reenter_waiting_room(lab: Make) -> None:
    site = lab()
    person = site.waiting()
    assert "Ready when you are" in person.post("/leave", {"place": "WAITING-"}).words
    assert "The other person" not in site.waiting("I fell into the pond.").page.words
    assert "You begin." not in person.get("/talk").words
    person.post("/wait")
    assert "The other person begins." in person.page.words  # the person who was already waiting tells first


def test_nobody_is_paired_with_themselves(lab: Make) -> None:
    person = lab().waiting()
    for _ in range(3):
        assert "You are in the waiting room." in person.get("/talk").words
        assert "You are in the waiting room." in person.post("/wait").words


def test_waiting_pages_refresh_without_scripts(lab: Make) -> None:
    site = lab()
    refresh = '<noscript><meta http-equiv="refresh" content="5; url=/talk"></noscript>'
    assert refresh in site.waiting().page.text
    second = site.waiting("I fell into the pond.")
    assert refresh in second.page.text
    assert refresh not in say(second, "It is not my turn").text  # a reload would lose the typed text


# --- the conversation ------------------------------------------------------------------------------------------------


def test_message_out_of_turn_is_rejected(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    page = say(second, "Me first!")
    assert page.status == 409
    assert "The conversation has continued meanwhile." in page.words
    assert "Me first!" in page.text  # the text is kept
    say(first, "Hello")
    assert say(first, "And another thing").status == 409
    assert said(second.get("/talk") and second) == ["Hello"]
    assert "It is the other person's turn." in say(second, "Hello yourself").words
    assert said(first.get("/talk") and first) == ["Hello", "Hello yourself"]


def test_repeated_message_is_stored_once(lab: Make) -> None:
    site = lab()
    first, _ = site.pair()
    form = {"talk": first.page.hidden("talk"), "turn": "1", "text": "Hello"}
    token = first.page.hidden("token")
    for _ in range(2):
        assert first.post("/say", form, token=token).status == 200
        assert said(first) == ["Hello"]
    assert first.post("/say", {**form, "text": "Goodbye"}, token=token).status == 409
    assert said(first) == ["Hello"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("  ", "Write something first."),
        ("x" * 1001, "Write at most 1,000 characters; this is 1,001."),
        ("a\0b", "This contains a character that cannot be stored."),
    ],
)
def test_invalid_message_is_rejected_with_reason(lab: Make, text: str, wrong: str) -> None:
    first, _ = lab().pair()
    page = say(first, text)
    assert page.status == 422
    assert wrong in page.words
    assert said(first) == []


@pytest.mark.parametrize("turn", ["", "0", "2", "-1", "²", "9" * 30, "x"])
def test_invalid_turn_number_is_rejected(lab: Make, turn: str) -> None:
    first, _ = lab().pair()
    assert first.post("/say", {"talk": first.page.hidden("talk"), "turn": turn, "text": "Hello"}).status == 409


def test_conversation_can_end_only_after_minimum_turns(lab: Make) -> None:
    first, second = lab().pair()
    talk(first, second, turns=3)
    assert "End this conversation" not in first.page.words
    assert "It is your turn." in second.get("/talk").words
    say(second, "Four.")
    assert "End this conversation" in second.page.words
    second.post("/end", {"talk": second.page.hidden("talk")})
    assert "How was conversation 1?" in second.page.words
    late = first.post("/say", {"talk": second.page.hidden("talk"), "turn": "5", "text": "Wait!"})
    assert "How was conversation 1?" in late.words


def test_invalid_judgement_can_be_corrected(lab: Make) -> None:
    first, second = lab().pair()
    talk(first, second)
    page = judge(first, **{"q-empathy": "6"})
    assert page.status == 422
    assert "Choose one of the answers." in page.words
    assert "One moment" in judge(first).words


# --- somebody leaves -------------------------------------------------------------------------------------------------


def test_both_people_can_continue_after_one_leaves(lab: Make, tmp_path: Path) -> None:
    site = lab()
    first, second = site.pair()
    say(first, "Hello")
    key = f"TALK-{first.page.hidden('talk')}"
    second.post("/leave", {"place": "TALK-another"})
    assert "It is your turn." in second.page.words  # a form of another meeting, in another tab
    assert "You have left this meeting" in second.post("/leave", {"place": key}).words
    assert "The other person has left" in first.get("/talk").words
    assert "code" not in first.page.words
    assert "You are in the waiting room." in first.post("/again").words
    assert "A heron stood in my garden." in first.page.words
    third = site.waiting("I won a cake.")
    talk(first, third)
    assert [one.situation for one in exported(site, tmp_path)] == ["A heron stood in my garden."]
    assert "I fell into the pond." in second.post("/again").words


def test_silence_ends_the_meeting(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    say(first, "Hello")
    site.clock.now += PATIENCE + 1
    assert "The other person has left" in first.get("/talk").words
    assert "You have left this meeting" in second.get("/talk").words
    assert "did nothing for 5 minutes when it was your turn" in second.page.words
    assert say(second, "I am back").words == second.get("/talk").words


def test_patience_of_one_minute_is_named_in_the_singular(lab: Make) -> None:
    site = lab(patience=60.0)
    first, second = site.pair()
    assert "If one of you writes nothing for 1 minute when it is their turn" in first.page.words
    site.clock.now += 61
    assert "did nothing for 1 minute when it was your turn" in first.get("/talk").words
    assert "did nothing for 1 minute, or can no longer take part" in second.get("/talk").words


def test_missing_judgement_ends_the_meeting(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    talk(first, second)
    judge(first)
    site.clock.now += PATIENCE + 1
    assert "The other person has left" in first.get("/talk").words
    assert "The meeting has ended early, but this conversation is complete." in second.get("/talk").words
    judge(second)
    assert "You have left this meeting" in second.get("/talk").words
    assert "did nothing for 5 minutes when it was your turn" in second.page.words


def test_excluded_people_cannot_take_part(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    site.desk.exclude(site.desk.raters()[0].id, "rude")
    fields = {"talk": first.page.hidden("talk"), "turn": "1", "text": "Hello"}
    for path in ("/say", "/end", "/judge", "/wait", "/again", "/prompt"):
        first.post(path, fields, token=first.page.hidden("token") or second.page.hidden("token"))
        assert first.get("/talk").status == 403
    assert said(second.get("/talk") and second) == []


def test_reincluded_person_keeps_finished_conversation_and_code(lab: Make, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("extends: collect_ed\nname: own\ncompletion: {code: HERON-7}\n")
    site = lab(study=str(path))
    first, second = site.pair()
    talk(first, second)
    judge(first)
    judge(second)
    site.desk.exclude(site.desk.raters()[0].id, "a mistake")
    assert first.get("/talk").status == 403
    assert "The other person has left" in second.get("/talk").words  # the reason is not disclosed
    assert "is kept, and counts as one of yours." in second.page.words
    assert "Your code: HERON-7" in second.page.words
    assert site.admin().get("/admin/conversations.csv").status == 404  # but it is not in the file
    site.desk.include(site.desk.raters()[0].id)
    assert "This meeting has ended" in first.get("/talk").words
    assert "You can take part again now." in first.page.words
    assert "left" not in first.page.words
    assert "Your code: HERON-7" in first.page.words
    assert len(exported(site, tmp_path)) == 1
    assert "A situation of your own" in first.post("/again").words


# --- a restart -------------------------------------------------------------------------------------------------------


def test_conversations_and_waiting_survive_restart(lab: Make) -> None:
    before = lab()
    first, second = before.pair()
    third = before.waiting("I won a cake.")
    say(first, "Hello")
    after = lab()
    for one in (first, second, third):
        one.app = after.app
    assert say(second, "Hello yourself").status == 200
    assert said(first.get("/talk") and first) == ["Hello", "Hello yourself"]
    assert "You are in the waiting room." in third.get("/talk").words
    assert "The other person begins." in after.waiting("I lost my keys.").page.words


def test_time_while_the_site_is_down_is_no_silence_in_the_file_either(lab: Make, tmp_path: Path) -> None:
    site = lab()
    first, second = site.pair()
    talk(first, second, 4, end=False)
    site.clock.now += 10 * PATIENCE  # the server was down
    site = lab()
    first.app = second.app = site.app
    assert site.admin().get("/admin/conversations.csv").status == 404  # the two still talk
    assert say(first, "Hello again").status == 200
    site.clock.now += PATIENCE + 1
    assert [len(dialogue.turns) for dialogue in exported(site, tmp_path)] == [5]


# --- self-harm -------------------------------------------------------------------------------------------------------


def test_self_harm_notice_is_shown_to_both_and_flagged(lab: Make, logged: list[str]) -> None:
    site = lab()
    first, second = site.pair()
    for one in (say(first, "I want to die"), second.get("/talk")):
        assert "The two of you take part in a study." in one.words
        assert "988" in one.words
    with site.store.reading() as t:
        assert json.loads(t.rows("SELECT details FROM rating_messages")[0]["details"]) == {"distress": True}
    assert re.fullmatch("WARNING conversation [0-9a-f]{8}, turn 1 mentions self-harm: the notice is shown", logged[-1])
    assert "die" not in logged[-1]
    words = site.admin().page.words
    assert "Messages and situations that mention self-harm 1" in words


def test_self_harm_notice_is_shown_with_last_message(lab: Make) -> None:
    first, second = lab().pair()
    talk(first, second, turns=7, end=False)
    for one in (say(second, "I want to die"), first.get("/talk")):
        assert "How was conversation 1?" in one.words
        assert "988" in one.words


def test_self_harm_notice_is_shown_for_situation(lab: Make, logged: list[str]) -> None:
    site = lab()
    person = site.waiting("I wanted to kill myself.")
    assert "988" in person.page.words
    assert logged[-1] == "WARNING a situation mentions self-harm: the notice is shown"
    assert "Messages and situations that mention self-harm 1" in site.admin().page.words


@pytest.mark.parametrize("place", [0, 1], ids=["speaks first", "listens first"])
def test_self_harm_notice_for_situation_stays_when_a_partner_is_met(lab: Make, place: int) -> None:
    """Whoever comes second meets a partner at once, and never sees the waiting room."""
    site = lab()
    situations = ["I fell into the pond.", "I saw a heron."]
    situations[place] = "I wanted to kill myself."
    people = []
    for situation in situations:
        people.append(site.waiting(situation))
        site.clock.now += 1
    writer, other = people[place], people[1 - place]
    for one, is_shown in ((writer, True), (other, False)):
        assert "Conversation 1 of 2" in one.get("/talk").words
        assert ("988" in one.page.words) is is_shown


def test_self_harm_notice_stays_when_the_message_ends_a_conversation(lab: Make, tmp_path: Path) -> None:
    """Without questions the next conversation begins at once, in which that message is not shown."""
    path = tmp_path / "own.yaml"
    path.write_text("extends: collect_ed\nquestions: []\n")
    first, second = lab(study=str(path)).pair()
    talk(first, second, turns=7, end=False)
    for one in (say(second, "I want to die"), first.get("/talk")):
        assert "Conversation 2 of 2" in one.words
        assert "988" in one.words
    talk(second, first, turns=8, end=False)
    for one in (first, second):
        assert "988" not in one.get("/talk").words


def test_self_harm_notice_stays_when_somebody_leaves(lab: Make) -> None:
    first, second = lab().pair()
    say(first, "I want to die")
    second.get("/talk")
    second.post("/leave", {"place": second.page.hidden("place")})
    assert "The other person has left" in first.get("/talk").words
    for one in (first, second):
        assert "988" in one.get("/talk").words


def test_every_flagged_situation_is_counted(lab: Make) -> None:
    site = lab()
    first = site.waiting("I wanted to kill myself.")
    site.clock.now += 1
    second = site.waiting("I saw a heron.")
    first.get("/talk")
    for teller, listener in ((first, second), (second, first)):
        talk(teller, listener)
        judge(first)
        judge(second)
    first.get("/talk")
    first.post("/again", {})
    first.get("/talk")
    describe(first, "Then I tried to kill myself again.")
    assert "Messages and situations that mention self-harm 2" in site.admin().page.words


def test_each_situation_is_searched_only_once_for_self_harm(lab: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def searching(text: str) -> bool:
        searched.append(text)
        return speaks_of_self_harm(text)

    monkeypatch.setattr(counts, "speaks_of_self_harm", searching)
    site = lab()
    for text in ("I wanted to die in that pond.", "I won a heron."):
        site.waiting(text)
    boss = site.admin()
    for _ in range(2):
        assert "Messages and situations that mention self-harm 1" in boss.get("/admin").words
    assert sorted(searched) == ["I wanted to die in that pond.", "I won a heron."]


def test_flagged_situation_that_is_told_again_is_counted_once(lab: Make) -> None:
    site = lab()
    first = site.waiting("I wanted to kill myself.")
    second = site.waiting("I fell into the pond.")
    second.post("/leave", {"place": second.page.hidden("place")})
    first.get("/talk")
    assert "I wanted to kill myself." in first.post("/again").words
    assert "Messages and situations that mention self-harm 1" in site.admin().page.words


def test_self_harm_is_flagged_without_notice(lab: Make, logged: list[str]) -> None:
    first, _ = lab(notice=None).pair()
    assert "988" not in say(first, "I want to die").words
    assert "NO NOTICE is shown: --distress-notice is off" in logged[-1]


# --- the rest --------------------------------------------------------------------------------------------------------


def test_administrator_page_shows_counts_and_excludes_raters(lab: Make) -> None:
    site = lab()
    assert site.visitor().get("/admin").words.count("token") >= 1
    boss = site.admin()
    assert boss.get("/admin/conversations.csv").status == 404
    assert "No conversation is complete yet" in boss.page.words
    meet(site)
    site.waiting("I won a cake.")
    words = boss.get("/admin").words
    for row in ("People 3", "In the waiting room 1", "Complete conversations 2", "Conversations in progress 0"):
        assert row in words
    page = boss.get("/admin/conversations.csv")
    assert page.header("content-type") == "text/csv; charset=utf-8"
    assert page.header("content-disposition") == 'attachment; filename="collect_ed_conversations.csv"'
    rater = site.desk.raters()[0].id
    boss.get("/admin")
    assert boss.post("/admin/raters", {"rater": rater, "reason": " ", "what": "exclude"}).status == 422
    boss.post("/admin/raters", {"rater": rater, "reason": "rude", "what": "exclude"})
    assert "Complete conversations without excluded people 0" in boss.page.words
    assert "Excluded: rude" in boss.page.words
    boss.post("/admin/raters", {"rater": rater, "what": "include"})
    assert "Complete conversations without excluded people 2" in boss.page.words
    boss.post("/admin/logout")
    assert boss.get("/admin/conversations.csv").status == 403


def test_crowd_worker_finishes_at_crowd_site(lab: Make, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("extends: collect_ed\nquestions: []\ncompletion: {code: HERON-7}\n")
    site = lab(study=str(path))
    link = "/?PROLIFIC_PID={0}&STUDY_ID=s&SESSION_ID=t{0}"
    people = [site.visitor() for _ in range(2)]
    for number, one in enumerate(people):
        one.get(link.format(number))
        one.post("/consent", {"agree": "yes"})
        one.get("/talk")
        describe(one, "I saw a heron.")
    talk(*people)
    talk(*people[::-1])
    assert "https://app.prolific.com/submissions/complete?cc=HERON-7" in people[0].get("/talk").text
    assert site.visitor().get(link.format(0).replace("t0", "t7")).status == 403


def test_collect_site_rejects_studies_of_other_kinds(lab: Make, tmp_path: Path) -> None:
    store = lab().store
    (tmp_path / "A.jsonl").write_text('{"context": ["Hello"], "reply": "Hello"}\n')
    desk = Desk(store, read_study("humod", {"A": str(tmp_path / "A.jsonl")}))
    with pytest.raises(OptionError, match="kind is likert: a collection needs kind collect"):
        collect_site(desk, b"x" * 32, None)  # type: ignore[arg-type]


def test_visitors_without_consent_are_sent_to_consent_page(lab: Make) -> None:
    site = lab()
    for path in ("/talk", "/rate", "/events"):
        assert "I agree to take part" in Visitor(site.app).get(path).words
    stranger = site.visitor()
    stranger.get("/")
    for path in ("/prompt", "/wait", "/leave", "/again", "/end", "/judge"):
        assert "I agree to take part" in stranger.post(path).words
    stranger.get("/")
    assert "I agree to take part" in stranger.post("/say", {"text": "Hello"}).words
