"""A person in distress is shown where to find help before the model replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parlai_empathy.rating.talking.help_lines import notice_for

Serve = Callable[..., Any]
MESSAGE = "I don't want to live anymore."


def test_notice_is_shown_before_the_answer(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.post("/say", **visitor.form(text=f"SLOW {MESSAGE}"))
    # The model has not answered yet.
    assert visitor.said() == [f"SLOW {MESSAGE}"]
    assert "988 Suicide &amp; Crisis Lifeline" in visitor.page
    assert "You are talking with a program, not with a person." in visitor.page
    assert "call 911" in visitor.page
    served.agent.go_on.set()
    visitor.wait()
    page = visitor.load()
    assert page.index('id="turn-1"') < page.index("988 Suicide") < page.index('id="turn-2"')  # and stays there


def test_event_stream_sends_notice_before_the_answer(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    turns = [value for name, value in visitor.events(**visitor.form(text=MESSAGE)) if name == "turns"]
    assert "988 Suicide" in turns[0]
    assert "turn-2" not in turns[0]
    assert turns[1].index("988 Suicide") < turns[1].index("turn-2")


def test_ordinary_message_gets_no_notice(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("My dog died last week.")
    assert "help-lines" not in visitor.page


def test_notice_follows_messages_of_the_visitor_only(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("Hello SAY I want to die")  # here the visitor's own words mention it
    assert visitor.page.count('class="help-lines"') == 1


def test_message_is_flagged_in_store_and_log(serve_chat: Serve, logged: list[str]) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.say("Hello")
    visitor.say(MESSAGE)
    [found] = [served.desk.next_item(served.desk.raters()[0].id)]
    flags = [one.details.get("distress") for one in served.desk.messages(found.id, found.rater)]
    assert flags == [None, None, True, None]
    [line] = [line for line in logged if "self-harm" in line]
    assert line == f"WARNING conversation {found.id[:8]}, turn 3 mentions self-harm: the notice is shown"


def test_disabled_notice_is_logged(serve_chat: Serve, logged: list[str]) -> None:
    visitor = serve_chat(notice=None).visitor()
    visitor.say(MESSAGE)
    assert "help-lines" not in visitor.page
    assert any("NO NOTICE is shown: --distress-notice is off" in line for line in logged)


def test_notice_uses_the_given_country(serve_chat: Serve) -> None:
    visitor = serve_chat(notice=notice_for("DE")).visitor()
    visitor.say(MESSAGE)
    assert "0800 1110111" in visitor.page
    assert "call 112" in visitor.page
