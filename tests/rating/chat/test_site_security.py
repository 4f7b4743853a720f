"""Attacks on the chat page: reading or changing another person's conversation, forged forms, too many messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx

from parlai_empathy.rating.web.limits import Rate

Serve = Callable[..., Any]
ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&#34;&#39;&amp;"


def test_conversation_of_another_person_cannot_be_read(serve_chat: Serve) -> None:
    served = serve_chat()
    owner, other = served.visitor(), served.visitor()
    owner.say("my private words")
    for path in ("/", "/events", "/conversation.txt", "/conversation.json", f"/?talk={owner.hidden('talk')}", "/judge"):
        response = other.http.get(path, headers={"Accept": "text/event-stream"})
        assert "private" not in response.text, path


def test_conversation_of_another_person_cannot_be_changed(serve_chat: Serve) -> None:
    served = serve_chat()
    owner, other = served.visitor(), served.visitor()
    said = owner.say("my private words")
    talk = owner.hidden("talk")
    for path, fields in {
        "/say": {"turn": "3", "text": "I am you"},
        "/mark": {"turn": "2", "q-good": "no"},
        "/new": {},
        "/retry": {},
        "/judge": {"q-whole": "bad"},
    }.items():
        other.load()
        response = other.post(path, talk=talk, **fields)
        assert response.status_code == 409, path
        assert "private" not in response.text
    owner.load()
    assert owner.said() == said
    assert owner.hidden("talk") == talk
    assert 'aria-pressed="true"' not in owner.page


def test_forms_without_valid_token_are_rejected(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor, other = served.visitor(), served.visitor()
    fields = {**visitor.form(text="Hello"), "agree": "yes"}
    for path in ("/consent", "/say", "/mark", "/new", "/retry", "/judge"):
        assert visitor.http.post(path, data=fields).status_code == 403
        for token in ("", "x", other.hidden("token")):
            assert visitor.http.post(path, data={**fields, "token": token}).status_code == 403
    assert visitor.wait() == []


def test_user_and_model_text_is_escaped(serve_chat: Serve) -> None:
    def feelings(texts: Any) -> list[tuple[str, float]]:
        return [(ATTACK, 0.5)] * len(texts)

    visitor = serve_chat(emotions=feelings).visitor()
    first = visitor.form(text=f"SAY {ATTACK}")
    events = visitor.events(**first)
    visitor.load()
    visitor.post("/mark", talk=visitor.hidden("talk"), turn="2", **{"q-comment": f"</textarea>{ATTACK}"})
    for page in (visitor.load(), [value for name, value in events if name == "turns"][-1]):
        assert page.count(ESCAPED) >= 4  # both messages and both emotions
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "</textarea><" not in page


def test_rejected_message_is_escaped(serve_chat: Serve) -> None:
    visitor = serve_chat(longest=10).visitor()
    page = visitor.post("/say", **visitor.form(text=f"</textarea>{ATTACK}")).text
    assert ESCAPED in page
    assert "<script>alert" not in page


def test_responses_have_security_headers(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("Hello")
    for path in ("/", "/events", "/conversation.txt", "/nothing"):
        headers = visitor.http.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"


def test_pages_have_no_inline_code_or_external_resources(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    visitor.say("Hello, I feel suicidal")
    for page in (visitor.load(), serve_chat().visitor(agrees=False).page):
        assert re.findall(r"<script(?! src=\"/static/)", page) == []
        assert not re.search(r"<style|\sstyle=|\son\w+=", page)
        loaded = re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="([^"]*)"', page)
        assert loaded
        assert all(address.startswith("/static/") for address in loaded)
        assert 'rel="noopener noreferrer"' in page or "help-lines" not in page


def test_cookie_is_http_only(serve_chat: Serve) -> None:
    served = serve_chat()
    cookie = httpx.get(served.url).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_tampered_cookie_is_rejected(serve_chat: Serve) -> None:
    served = serve_chat()
    visitor = served.visitor()
    visitor.say("my private words")
    [(name, value)] = visitor.http.cookies.items()
    body, _, digest = value.partition(".")
    for changed in (value[:-1] + ("A" if value[-1] != "A" else "B"), f"{body}.", f"A{body}.{digest}", ""):
        response = httpx.get(served.url, cookies={name: changed})
        assert "private" not in response.text
        assert "I agree to take part" in response.text


def test_too_many_messages_get_429(serve_chat: Serve) -> None:
    served = serve_chat(messages=Rate(1, 2))
    visitor = served.visitor()
    visitor.say("One")
    visitor.say("Two")
    visitor.load()
    response = visitor.post("/say", **visitor.form(text="Three"))
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) >= 1
    assert len(visitor.wait()) == 4
    assert served.visitor().say("Hello") == ["Hello", "Hello"]  # others are not limited


def test_oversized_body_gets_413(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    response = visitor.post("/say", **visitor.form(text="x" * 100_000))
    assert response.status_code == 413


def test_file_upload_gets_415(serve_chat: Serve) -> None:
    visitor = serve_chat().visitor()
    token = visitor.hidden("token")
    response = visitor.http.post("/say", data={"token": token}, files={"text": ("a.txt", b"Hello")})
    assert response.status_code == 415


def test_conversation_text_is_never_logged(serve_chat: Serve, logged: list[str], capfd: Any) -> None:
    visitor = serve_chat().visitor()
    visitor.say("my private words")
    visitor.say("my private words: I want to die")
    visitor.say("my private words FAIL")
    everything = "\n".join([*logged, *capfd.readouterr()])
    assert "mentions self-harm" in everything
    assert "private" not in everything
    assert visitor.hidden("talk") not in everything  # with the cookie, the id opens the conversation
