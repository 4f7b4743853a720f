"""The chat page for visitors without scripts, and the events for the page's script."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from markup import text_boxes
from remembering_agent import RememberingAgent, StreamingAgent
from tiny_studies import LIKERT

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.chat import pages, replies
from parlai_empathy.rating.chat.settings import ChatSettings
from parlai_empathy.rating.chat.site import chat_site
from parlai_empathy.rating.chat.talk import Talk, talk_of
from parlai_empathy.rating.desk.desk import Desk
from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.storage.store import Store
from parlai_empathy.rating.study.study import Study

Serve = Callable[..., Any]


def feelings(texts: Any) -> list[tuple[str, float]]:
    return [("joyful" if "glad" in text else "sad", 0.876) for text in texts]


def test_model_answers_with_conversation_history(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    assert visitor.say("Hello") == ["Hello", "Hello"]
    assert visitor.say("Again") == ["Hello", "Hello", "Again", "Hello / (Hel) / Again"]


def test_consent_is_required_before_chatting(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor(agrees=False)
    assert "I have read this, and I agree" in visitor.page
    assert visitor.post("/consent").status_code == 422
    assert "Say that you agree" in visitor.page
    assert visitor.post("/say", talk="x", turn="1", text="Hello").status_code == 409
    assert served.desk.raters() == []


def test_concurrent_conversations_are_isolated(serve_chat: Serve) -> None:
    served = serve_chat(workers=2)
    visitors = [served.visitor() for _ in range(4)]
    for turn in range(3):
        for number, visitor in enumerate(visitors):
            visitor.post("/say", **visitor.form(text=f"I am {number}, {turn}"))
        for visitor in visitors:
            visitor.wait()
    for number, visitor in enumerate(visitors):
        last = visitor.said()[-1]
        assert f"I am {number}, 2" in last
        assert f"I am {number}, 0" in last
        assert not any(f"I am {other}," in " ".join(visitor.said()) for other in range(4) if other != number)
    assert served.agent.heard == []  # only clones of the model take part in conversations
    assert len({id(one) for one in served.agent.family}) == 5


def test_conversation_survives_reload_and_restart(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    assert visitor.say("Hello") == ["Hello", "Hello"]
    served.stop()
    visitor.http.base_url = serve_chat().url  # the cookie is valid for all ports of the host
    visitor.load()
    assert visitor.said() == ["Hello", "Hello"]
    # The new process replays the conversation to its model.
    assert visitor.say("Still there?")[-1] == "Hello / (Hel) / Still there?"


def test_second_server_continues_from_the_reply_that_was_stored(serve_chat: Serve) -> None:
    """Both servers of a store answer the same message; the visitor sees the first answer, and so must both models."""

    class Named(RememberingAgent):
        name = "A"

        def act(self) -> dict[str, Any]:
            self.heard[-1] = f"{self.name}! {self.heard[-1]}"
            return super().act()

    first, second = serve_chat(agent=Named()), serve_chat(agent=type("Other", (Named,), {"name": "B"})())
    visitor, other = first.visitor(), second.visitor(agrees=False)
    other.http.cookies = visitor.http.cookies
    visitor.post("/say", **visitor.form(text="SLOW"))
    other.load()
    assert second.replies.is_under_way(other.hidden("talk"))
    first.agent.go_on.set()
    assert visitor.wait() == ["SLOW", "A! SLOW"]
    second.agent.go_on.set()
    while second.replies.is_under_way(other.hidden("talk")):
        time.sleep(0.01)
    assert other.say("Hello")[1:] == ["A! SLOW", "Hello", "SLOW / (A! ) / B! Hello"]


def test_waiting_page_refreshes_without_scripts(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.post("/say", **visitor.form(text="SLOW"))
    assert 'data-waiting="yes"' in visitor.page
    assert '<noscript><meta http-equiv="refresh" content="2; url=/?again#end">' in visitor.page
    assert 'content="2; url=/#end"' in visitor.load("/?again")  # alternates: at the same address, browsers only scroll
    assert visitor.said() == ["SLOW"]
    served.agent.go_on.set()
    assert visitor.wait() == ["SLOW", "SLOW"]
    assert "http-equiv" not in visitor.page


def test_answer_finished_during_page_load_is_not_reported_as_failed(
    serve_chat: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.post("/say", **visitor.form(text="SLOW"))

    def turns_then_the_reply(desk: Desk, found: Any, is_under_way: bool) -> Talk:
        talk = talk_of(desk, found, is_under_way)
        served.agent.go_on.set()
        until = time.monotonic() + 20
        while served.replies.is_under_way(found.id):
            assert time.monotonic() < until
            time.sleep(0.01)
        return talk

    monkeypatch.setattr(pages, "talk_of", turns_then_the_reply)
    assert 'data-waiting="yes"' in visitor.load()
    assert visitor.wait() == ["SLOW", "SLOW"]


def test_page_loads_while_model_answers_another_visitor(serve_chat: Serve) -> None:
    served = serve_chat()
    first, second = served.visitor(), served.visitor()
    first.post("/say", **first.form(text="SLOW"))
    second.load()  # the page loads at once, although the model is busy
    assert "Write a message" in second.page
    served.agent.go_on.set()
    first.wait()


def test_failed_answer_can_be_retried(serve_chat: Serve, logged: list[str]) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.say("my secret FAIL")
    assert '<form class="failed" id="failed" method="post" action="/retry">' in visitor.page
    assert any("no reply: ValueError" in line for line in logged)
    assert "secret" not in "".join(logged)
    assert visitor.post("/say", **visitor.form(text="Hello?")).status_code == 409
    assert "Your last message has no answer yet. Choose “Ask again” first." in visitor.page
    served.agent.go_on.set()
    visitor.post("/retry", talk=visitor.hidden("talk"))
    assert visitor.wait() == ["my secret FAIL", "my secret FAIL"]


def test_repeated_message_is_stored_once(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    form = visitor.form(text="Hello")
    visitor.post("/say", **form)
    visitor.wait()
    assert visitor.post("/say", **form).status_code == 200  # sent twice: stored once
    assert visitor.wait() == ["Hello", "Hello"]
    assert visitor.post("/say", **{**form, "text": "Other"}).status_code == 409  # from another tab
    assert "continued meanwhile" in visitor.page
    assert ">\nOther</textarea>" in visitor.page  # the text is not lost
    assert visitor.post("/say", **{**form, "turn": "9"}).status_code == 409
    assert visitor.post("/say", **{**form, "turn": "x"}).status_code == 409
    assert visitor.wait() == ["Hello", "Hello"]


def test_message_is_rejected_while_model_answers(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    form = visitor.form(text="SLOW")
    visitor.post("/say", **form)
    assert visitor.post("/say", **{**form, "turn": "2", "text": "Hurry"}).status_code == 409
    assert "Wait for the answer first." in visitor.page
    served.agent.go_on.set()
    assert len(visitor.wait()) == 2


def test_invalid_message_is_rejected_with_reason(serve_chat: Serve) -> None:
    visitor = serve_chat(longest=50).visitor()
    empty, long = "Write something first.", "Write at most 50 characters; this is 51."
    for text, problem in (("", empty), (" \n ", empty), ("x" * 51, long), ("a\0b", "cannot be stored")):
        visitor.load()
        assert visitor.post("/say", **visitor.form(text=text)).status_code == 422
        assert problem in visitor.page
    assert visitor.wait() == []


def test_longest_message_in_multibyte_characters_is_accepted(serve_chat: Serve) -> None:
    visitor = serve_chat(longest=2000).visitor()
    assert visitor.say("\U0001f9e1" * 2000)[0] == "\U0001f9e1" * 2000


def test_longest_answers_in_multibyte_characters_are_accepted(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    texts = [{"id": id, "text": "Why?", "kind": "text", "most": 6000} for id in ("why", "how")]
    mark = {"id": "note", "text": "Note?", "kind": "text", "most": 9000, "per_turn": True, "required": False}
    study = study_of(
        {**LIKERT, "kind": "chat", "questions": [mark, *texts]}, models={"M": "m"}, turns={"least": 2, "most": 5}
    )
    served = serve_chat(study=study, longest=50)
    visitor = served.visitor()
    visitor.say("Hello")
    answers = {"note": "\U0001f9e1" * 9000, "why": "\U0001f9e1" * 6000, "how": "\U0001f9e1" * 6000}
    note = {"q-note": answers["note"]}
    assert visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **note).status_code == 200
    judged = {"q-why": answers["why"], "q-how": answers["how"]}
    assert visitor.post("/judge", talk=visitor.hidden("talk"), **judged).status_code == 200
    assert {row["question"]: row["text"] for row in rating_rows(served.desk.store, "herons")} == answers


def test_text_boxes_follow_the_direction_of_their_language(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("Hello")
    comment, message = text_boxes(visitor.page)
    assert 'dir="auto"' in comment
    assert 'dir="auto"' in message


def test_empty_answer_is_shown_as_silence(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    assert visitor.say("SILENT") == ["SILENT", "<em>(says nothing)</em>"]
    assert visitor.say("And now?")[-1] == "SILENT / () / And now?"


def test_answer_with_half_a_character_is_shown_with_a_question_mark(serve_chat: Serve) -> None:
    class Halved(RememberingAgent):
        def act(self) -> dict[str, Any]:
            return {"text": "A heron \ud83d"}  # as of a server that stops in the middle of an emoji

    assert serve_chat(agent=Halved()).visitor().say("What is it?")[1] == "A heron ?"


def test_emotions_are_shown_for_both_turns(serve_chat: Serve) -> None:
    visitor = serve_chat(emotions=feelings).visitor()
    visitor.say("SAY glad to hear")
    assert visitor.page.count("sounds <strong>joyful</strong>, 88 %") == 2
    visitor.say("Oh")
    assert "sounds <strong>sad</strong>, 88 %" in visitor.page


def test_emotion_failure_does_not_prevent_answer(serve_chat: Serve) -> None:
    def broken(texts: Any) -> Any:
        raise RuntimeError

    visitor = serve_chat(emotions=broken).visitor()
    assert visitor.say("Hello") == ["Hello", "Hello"]
    assert "sounds" not in visitor.page


def test_marks_and_comments_are_stored_as_ratings(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.say("Hello")
    visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **{"q-good": "no"})
    visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **{"q-comment": "It repeats me."})
    visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **{"q-good": "yes"})
    rows = list(rating_rows(served.desk.store, "free"))
    assert [(row["turn"], row["question"], row["text"]) for row in rows] == [
        (2, "comment", "It repeats me."),
        (2, "good", "yes"),
    ]
    page = visitor.load()
    assert 'value="yes" aria-pressed="true"' in page
    assert 'value="no" aria-pressed="false"' in page
    assert ">\nIt repeats me.</textarea>" in page


def test_marks_of_one_turn_are_stored_separately(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    marks = [{"id": id, "text": f"{id}?", "kind": "likert", "per_turn": True} for id in ("turn", "talk")]
    questions = [*marks, *LIKERT["questions"]]
    served = serve_chat(study=study_of({**LIKERT, "kind": "chat", "questions": questions}, models={"M": "m"}))
    visitor = served.visitor()
    visitor.say("Hello")
    for id, value in (("talk", "4"), ("turn", "1")):
        mark = {f"q-{id}": value}
        assert visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **mark).status_code == 200
    marked = {row["question"]: row["rating"] for row in rating_rows(served.desk.store, "herons")}
    assert marked == {"talk": 4, "turn": 1}
    assert visitor.post("/mark", talk=visitor.hidden("talk"), turn="2").status_code == 422


def test_only_turns_of_the_model_can_be_marked(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("Hello")
    for turn in ("0", "1", "3", "x", "", "999999", "-2", "\u0662"):
        visitor.load()
        assert visitor.post("/mark", talk=visitor.hidden("talk"), turn=turn, **{"q-good": "yes"}).status_code == 409


def test_invalid_mark_is_rejected(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("Hello")
    talk = visitor.hidden("talk")
    assert visitor.post("/mark", talk=talk, turn="2", **{"q-comment": " \n"}).status_code == 422  # not just ignored
    visitor.load()
    assert visitor.post("/mark", talk=talk, turn="2", **{"q-good": "perhaps"}).status_code == 422
    visitor.load()
    assert visitor.post("/mark", talk=talk, turn="2", **{"q-comment": "x" * 501}).status_code == 422


def test_new_conversation_starts_empty_and_keeps_the_old_one(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.say("Hello")
    before = visitor.hidden("talk")
    visitor.post("/new", talk=before)
    assert visitor.said() == []
    assert visitor.hidden("talk") != before
    assert visitor.say("Hi")[-1] == "Hi"
    assert visitor.post("/say", talk=before, turn="3", text="Old tab").status_code == 409
    exported = json.loads(visitor.http.get("/conversation.json").text)
    assert [[turn["text"] for turn in one["turns"]] for one in exported] == [["Hello", "Hello"], ["Hi", "Hi"]]


def test_ending_conversation_twice_counts_once(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor, other = served.visitor(), served.visitor()
    visitor.say("Hello")
    before = visitor.hidden("talk")
    for _ in range(2):
        assert visitor.post("/new", talk=before).status_code == 200
        assert visitor.said() == []
    assert other.post("/new", talk=before).status_code == 409  # not their conversation
    assert [one.done for one in served.desk.counts()] == [1]


def test_empty_conversation_is_not_replaced(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    before = visitor.load() and visitor.hidden("talk")
    visitor.post("/new", talk=before)
    assert visitor.hidden("talk") == before


def test_export_contains_only_own_conversations(serve_chat: Serve) -> None:
    served = serve_chat()
    first, second = served.visitor(), served.visitor()
    first.say("first's words")
    second.say("second's words")
    first.post("/mark", talk=first.hidden("talk"), turn="2", **{"q-good": "yes"})
    text = first.http.get("/conversation.txt")
    assert text.text == "you: first's words\nprogram: first's words\n"
    assert text.headers["content-disposition"] == 'attachment; filename="conversation.txt"'
    [record] = json.loads(first.http.get("/conversation.json").text)
    assert record["turns"][1]["marks"] == {"good": "yes"}
    assert "second" not in first.http.get("/conversation.json").text
    assert "I agree" in served.visitor(agrees=False).load("/conversation.json")
    assert "Write a message" in first.load("/conversation.exe")


def test_export_contains_conversations_of_every_version_and_state(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    """One was judged in an earlier version, one given back, one is under way."""
    study = judged_study(study_of)
    served = serve_chat(study=study)
    visitor = served.visitor()
    for text in ("Hello", "Hello again"):
        visitor.say(text)
    visitor.post("/judge", talk=visitor.hidden("talk"), **{"q-liking": "4"})
    visitor.say("FAIL")
    visitor.post("/new", talk=visitor.hidden("talk"))
    visitor.say("Hi")
    Desk(served.desk.store, dataclasses.replace(study, title="Other herons"), new_version=True)
    talks = json.loads(visitor.http.get("/conversation.json").text)
    said = [[turn["text"] for turn in talk["turns"] if turn["speaker"] == "you"] for talk in talks]
    assert said == [["Hello", "Hello again"], ["FAIL"], ["Hi"]]


def test_conversation_is_judged_at_maximum_length(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    study = study_of(
        {**LIKERT, "kind": "chat"}, models={"M": "m"}, items_per_rater=1, turns={"least": 2, "most": 2},
        completion={"text": "Thanks.", "code": "C7"},
    )  # fmt: skip
    served = serve_chat(study=study)
    visitor = served.visitor()
    assert visitor.http.get("/judge").url.path == "/"  # nothing to judge yet
    visitor.say("Hello")
    assert "This conversation has reached its maximum length." in visitor.page
    visitor.post("/new", talk=visitor.hidden("talk"))
    assert "How was this conversation?" in visitor.page
    talk = visitor.hidden("talk")
    assert visitor.post("/judge", talk=talk).status_code == 422
    assert "Choose one of the answers." in visitor.page
    visitor.post("/judge", talk=talk, **{"q-liking": "4"})
    assert "Thanks." in visitor.page
    assert "C7" in visitor.page
    [row] = rating_rows(served.desk.store, "herons")
    assert (row["system"], row["question"], row["rating"]) == ("M", "liking", 4)
    assert "Hello" in visitor.http.get("/conversation.txt").text


def test_person_from_marketplace_is_known_by_link_and_gets_completion_link(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    study = study_of(
        {**LIKERT, "kind": "chat"}, models={"M": "m"}, items_per_rater=1, turns={"least": 2, "most": 2},
        completion={"code": "C7"},
    )  # fmt: skip
    served = serve_chat(study=study, id_parameter="panelist")
    visitor, stranger = served.visitor(agrees=False), served.visitor(agrees=False)
    link = "/?PROLIFIC_PID=5f00aa&STUDY_ID=61bb&SESSION_ID="
    assert 'action="/consent"' in visitor.load(f"{link}60cc")
    visitor.post("/consent", agree="yes")
    visitor.say("Hello")
    visitor.post("/judge", talk=visitor.hidden("talk"), **{"q-liking": "4"})
    assert 'href="https://app.prolific.com/submissions/complete?cc=C7"' in visitor.page
    assert "Somebody has already begun under this name" in stranger.load(f"{link}60dd")
    assert 'action="/consent"' in visitor.load("/?panelist=42")  # somebody else, in the same browser
    assert "This link does not work" in stranger.load("/?PROLIFIC_PID=5f00aa")
    assert [(rater.id, rater.done) for rater in served.desk.raters()] == [("prolific:5f00aa", 1), ("link:42", 0)]


def judged_study(study_of: Callable[..., Study], least: int = 4) -> Study:
    return study_of({**LIKERT, "kind": "chat"}, models={"M": "m"}, turns={"least": least, "most": 5})


def test_repeated_judgement_is_stored_once(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    served = serve_chat(study=judged_study(study_of, least=2))
    visitor = served.visitor()
    visitor.say("Hello")
    talk = visitor.hidden("talk")
    for _ in range(2):
        assert visitor.post("/judge", talk=talk, **{"q-liking": "4"}).status_code == 200
        assert visitor.said() == []  # the next conversation has begun
    assert visitor.post("/judge", talk=talk, **{"q-liking": "1"}).status_code == 409  # a second judgement is rejected
    assert [row["rating"] for row in rating_rows(served.desk.store, "herons")] == [4]


def test_ending_too_early_shows_required_length(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    visitor = serve_chat(study=judged_study(study_of)).visitor()
    assert '>Message <span id="number">1</span>; a conversation has 4 to 5.<' in visitor.page
    visitor.say("Hello")
    assert '>Message <span id="number">3</span>; a conversation has 4 to 5.<' in visitor.page
    assert visitor.post("/new", talk=visitor.hidden("talk")).status_code == 422
    assert "This conversation needs 4 messages, counting the program&#39;s, before you can judge it." in visitor.page
    visitor.say("Hello again")
    visitor.post("/new", talk=visitor.hidden("talk"))
    assert "How was this conversation?" in visitor.page


WHY = {"id": "why", "text": "Why?", "kind": "text", "required": False}
MARK = {"id": "good", "text": "Good?", "kind": "likert", "per_turn": True, "labels": {1: "not at all", 5: "very much"}}


def test_points_of_a_scale_show_their_labels_and_only_the_mark(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    study = study_of({**LIKERT, "kind": "chat", "questions": [MARK, WHY]}, models={"M": "m"})
    visitor = serve_chat(study=study).visitor()
    visitor.say("Hello")
    pressed = re.compile(r'<button class="pick word([^"]*)" [^>]*value="(\d)" aria-pressed="(\w+)"')
    assert pressed.findall(visitor.page) == [("", str(point), "false") for point in range(1, 6)]
    assert '<span class="points" aria-hidden="true">1 not at all, 5 very much</span>' in visitor.page
    assert '1<span class="hidden"> not at all</span>' in visitor.page
    visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **{"q-good": "3"})
    assert [value for chosen, value, is_pressed in pressed.findall(visitor.page) if chosen] == ["3"]
    assert [value for _, value, is_pressed in pressed.findall(visitor.page) if is_pressed == "true"] == ["3"]


@pytest.mark.parametrize("is_judged", [False, True])
def test_conversation_ends_only_with_its_required_marks(
    serve_chat: Serve, study_of: Callable[..., Study], is_judged: bool
) -> None:
    questions = [MARK, *(LIKERT["questions"] if is_judged else [WHY])]
    study = study_of({**LIKERT, "kind": "chat", "questions": questions}, models={"M": "m"}, turns={"least": 2})
    served = serve_chat(study=study)
    visitor = served.visitor()
    visitor.say("Hello")
    visitor.say("How are you?")
    talk = visitor.hidden("talk")
    visitor.post("/mark", talk=talk, turn="2", **{"q-good": "3"})
    assert visitor.post("/new", talk=talk).status_code == 422
    assert "Answer 4 has no mark yet." in visitor.page
    assert len(visitor.said()) == 4
    if is_judged:
        visitor.post("/judge", talk=talk, **{"q-liking": "4"})
        assert next(iter(served.desk.raters())).done == 0
    visitor.post("/mark", talk=talk, turn="4", **{"q-good": "5"})
    visitor.post("/new", talk=talk)
    if is_judged:
        visitor.post("/judge", talk=talk, **{"q-liking": "4"})
    assert next(iter(served.desk.raters())).done == 1
    marks = {
        row["turn"]: row["rating"] for row in rating_rows(served.desk.store, "herons") if row["question"] == "good"
    }
    assert marks == {2: 3, 4: 5}


def test_conversation_without_judgement_has_a_minimum_length_too(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    study = study_of({**LIKERT, "kind": "chat", "questions": [WHY]}, models={"M": "m"}, turns={"least": 4, "most": 6})
    served = serve_chat(study=study)
    visitor = served.visitor()
    assert "a conversation has 4 to 6." in visitor.page
    visitor.say("Hello")
    assert visitor.post("/new", talk=visitor.hidden("talk")).status_code == 422
    assert "This conversation needs 4 messages, counting the program&#39;s, before it can end." in visitor.page
    visitor.say("Hello again")
    visitor.post("/new", talk=visitor.hidden("talk"))
    assert visitor.said() == []
    visitor.say("FAIL")  # nobody has to wait for an answer that may never come
    broken = visitor.hidden("talk")
    visitor.post("/new", talk=broken)
    assert visitor.hidden("talk") != broken
    assert next(iter(served.desk.raters())).done == 1


def test_examples_are_shown_before_the_conversation(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    example = {"context": ["I saw a heron."], "reply": "Where was it?", "answers": {"liking": 5}, "why": "It asks."}
    study = study_of({**LIKERT, "kind": "chat"}, models={"M": "m"}, examples=[example])
    visitor = serve_chat(study=study).visitor(agrees=False)
    page = visitor.http.get("/").text
    assert "Where was it?" in page
    assert "It asks." in page


def test_conversation_without_answer_can_be_abandoned(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    served = serve_chat(study=judged_study(study_of))
    visitor = served.visitor()
    visitor.say("FAIL")
    assert "if this conversation is too short for it, another one begins" in visitor.page
    broken = visitor.hidden("talk")
    assert visitor.post("/new", talk=broken).url.path == "/"
    assert visitor.said() == []
    assert visitor.hidden("talk") != broken
    assert visitor.post("/retry", talk=broken).status_code == 409
    assert list(rating_rows(served.desk.store, "herons")) == []  # nothing was judged
    visitor.say("Hello")
    visitor.say("FAIL")  # the missing answer would have been the fourth message
    visitor.post("/new", talk=visitor.hidden("talk"))
    assert "How was this conversation?" in visitor.page


def test_ending_is_rejected_while_model_answers(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    served = serve_chat(study=judged_study(study_of, least=1))
    visitor = served.visitor()
    visitor.post("/say", **visitor.form(text="SLOW"))
    assert visitor.post("/new", talk=visitor.hidden("talk")).status_code == 422
    assert "Wait for the answer first." in visitor.page
    served.agent.go_on.set()
    visitor.wait()


def test_conversation_missing_last_answer_can_be_judged(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    visitor = serve_chat(study=judged_study(study_of)).visitor()
    visitor.say("Hello")
    visitor.say("FAIL")
    assert "There is no answer yet." in visitor.page
    visitor.post("/new", talk=visitor.hidden("talk"))
    assert "How was this conversation?" in visitor.page
    assert visitor.post("/judge", talk=visitor.hidden("talk"), **{"q-liking": "1"}).status_code == 200
    assert visitor.load()
    assert visitor.said() == []


def test_failed_conversations_do_not_count_toward_items_per_rater(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    study = dataclasses.replace(judged_study(study_of), items_per_rater=2)
    served = serve_chat(study=study)
    visitor = served.visitor()
    talks = set()
    for _ in range(4):  # one person may judge only two
        visitor.say("FAIL")
        talks.add(visitor.hidden("talk"))
        visitor.post("/new", talk=visitor.hidden("talk"))
        assert visitor.said() == []
    assert len(talks) == 4
    served.agent.go_on.set()  # the model is back
    for _ in range(2):
        visitor.say("Hello")
        visitor.say("Hello again")
        visitor.post("/judge", talk=visitor.hidden("talk"), **{"q-liking": "4"})
    assert "<h1>That was all. Thank you!</h1>" in visitor.load()
    assert [row["rating"] for row in rating_rows(served.desk.store, "herons")] == [4, 4]


def test_excluded_visitor_is_told_so_and_keeps_their_conversation(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.say("Hello")
    form = visitor.form(text="Hello?")
    served.desk.exclude(served.desk.raters()[0].id, "rude")
    assert visitor.http.get("/").status_code == 403
    assert "The people who run this study have excluded you from it." in visitor.load()
    assert "rude" not in visitor.page
    assert "Your conversations:" in visitor.page
    assert visitor.http.get("/conversation.txt").text == "you: Hello\nprogram: Hello\n"
    visitor.page = visitor.http.get("/admin").text  # has a form
    assert visitor.post("/say", **form).status_code == 409
    assert "This conversation has ended" in visitor.page


def test_visitors_for_whom_no_model_is_left_are_told_why(serve_chat: Serve, study_of: Callable[..., Study]) -> None:
    study = dataclasses.replace(judged_study(study_of, least=2), items_per_rater=1, ratings_per_item=1)
    served = serve_chat(study=study)
    first, second = served.visitor(), served.visitor()
    assert "<h1>Nothing to do at the moment</h1>" in second.page
    assert '<a class="button" href="/">Try again</a>' in second.page
    first.say("Hello")
    first.post("/judge", talk=first.hidden("talk"), **{"q-liking": "4"})
    assert "<h1>This study is full</h1>" in second.load()


# --- events ----------------------------------------------------------------------------------------------------------


def test_event_stream_sends_turns_then_end(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    events = visitor.events(**visitor.form(text="Hello"))
    assert [name for name, _ in events if name != "part"] == ["turns", "turns", "end"]
    turns = [value for name, value in events if name == "turns"]
    assert turns[0].count("words-said") == 1
    assert turns[1].count("words-said") == 2
    assert events[-1] == ("end", False)


def test_event_stream_sends_partial_answer(serve_chat: Serve) -> None:
    class Slowly(StreamingAgent):
        def act_streaming(self, say: Callable[[str], None]) -> dict[str, Any]:
            say("one")
            assert self.go_on.wait(20)
            return {"text": "one two"}

    served = serve_chat(agent=Slowly())
    visitor = served.visitor()
    form = {"token": visitor.hidden("token"), **visitor.form(text="Count")}
    seen = []
    with visitor.http.stream("POST", "/say", data=form, headers={"Accept": "text/event-stream"}) as response:
        for line in response.iter_lines():
            seen.append(line)
            if line == 'data: "one"':
                served.agent.go_on.set()  # seen before the reply was complete
    assert 'data: "one"' in seen
    assert any("one two" in line for line in seen)


def test_reconnected_event_stream_follows_pending_answer(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.post("/say", **visitor.form(text="SLOW"))
    served.agent.go_on.set()
    assert visitor.events("/events")[-1] == ("end", False)
    assert visitor.wait() == ["SLOW", "SLOW"]
    assert [name for name, _ in visitor.events("/events")] == ["turns", "end"]  # no reply is pending


def test_answer_missing_after_server_stop_is_generated_on_reconnect(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    found = served.desk.next_item(served.desk.raters()[0].id)
    served.desk.say(found.id, found.rater, 1, "rater", "Are you there?")  # then the server stops
    visitor.load()
    assert "There is no answer yet." in visitor.page
    assert visitor.events("/events")[-1] == ("end", False)
    assert visitor.wait() == ["Are you there?", "Are you there?"]


def test_page_waits_for_answer_missing_after_server_stop(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    found = served.desk.next_item(served.desk.raters()[0].id)
    served.desk.say(found.id, found.rater, 1, "rater", "SLOW FAIL")  # then the server stops
    assert 'data-waiting="yes"' in visitor.load()
    assert 'action="/retry" hidden>' in visitor.page
    served.agent.go_on.set()
    assert visitor.wait() == ["SLOW FAIL", "SLOW FAIL"]


def test_conversation_is_not_abandoned_for_answer_missing_after_server_stop(
    serve_chat: Serve, study_of: Callable[..., Study]
) -> None:
    served = serve_chat(study=judged_study(study_of))
    visitor = served.visitor()
    found = served.desk.next_item(served.desk.raters()[0].id)
    served.desk.say(found.id, found.rater, 1, "rater", "Are you there?")  # then the server stops
    assert visitor.post("/new", talk=found.id).status_code == 422
    assert visitor.wait() == ["Are you there?", "Are you there?"]


def test_reload_does_not_retry_failed_answer(serve_chat: Serve, logged: list[str]) -> None:
    visitor = serve_chat().visitor()
    visitor.say("FAIL")
    for _ in range(3):
        assert 'data-waiting="no"' in visitor.load()
        assert 'action="/retry">' in visitor.page
    assert sum("no reply" in line for line in logged) == 1


def test_oldest_failures_are_forgotten(serve_chat: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "_REMEMBERED", 2)
    served = serve_chat()
    talks = []
    for _ in range(3):
        visitor = served.visitor()
        visitor.say("FAIL")
        talks.append(visitor.hidden("talk"))
    assert [served.replies.has_failed(talk) for talk in talks] == [False, True, True]


def test_event_stream_reports_failure(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    assert visitor.events(**visitor.form(text="FAIL"))[-1] == ("end", True)


def test_chat_site_rejects_studies_of_other_kinds(
    store: Store, study_of: Callable[..., Study], write_log: Callable[..., str]
) -> None:
    study = study_of(LIKERT, systems={"A": write_log("A", 2)})
    with pytest.raises(OptionError, match="kind is likert: the chat page serves chat"):
        chat_site(Desk(store, study), None, b"x" * 32, ChatSettings(None))  # type: ignore[arg-type]
