"""The administrator's pages of the chat."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from markup import landmarks
from starlette.testclient import TestClient

from parlai_empathy.rating.chat.settings import ChatSettings
from parlai_empathy.rating.chat.site import chat_site

Serve = Callable[..., Any]


def words(page: str) -> str:
    """Return the text of a page, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.fixture
def talked(serve_chat: Serve) -> Any:
    """Two people have talked: one marked an answer and ended the conversation, the other mentions self-harm."""
    served = serve_chat()
    first, second = served.visitor(), served.visitor()
    first.say("Hello")
    first.say("Again")
    first.post("/mark", talk=first.hidden("talk"), turn="2", **{"q-good": "yes"})
    first.load()
    first.post("/new", talk=first.hidden("talk"))
    second.say("I want to kill myself")
    return served


def test_counts_are_live(talked: Any) -> None:
    boss = talked.admin()
    ended, open, good, comment, whole = 1, 2, 1, 0, 0  # whoever ends a conversation gets the next one
    assert f"heron {ended} {open} {good} {comment} {whole} " in words(boss.page)
    assert "2 in all. Messages that mention self-harm: 1." in words(boss.page)
    first, second = talked.desk.raters()
    assert re.search(rf"{first.id} \S+ \S+ (UTC )?1 2 \N{{EN DASH}} ", words(boss.page))
    assert re.search(rf"{second.id} \S+ \S+ (UTC )?0 1 1 ", words(boss.page))


def test_landmarks_have_names_of_their_own(talked: Any) -> None:
    found = landmarks(talked.admin().page)
    assert found == ["Conversations", "Table of conversations", "Export", "People", "Table of people"]


def test_excluded_people_are_not_counted(talked: Any) -> None:
    boss, rater = talked.admin(), talked.desk.raters()[0].id
    assert boss.post("/admin/raters", rater=rater, reason=" ", what="exclude").status_code == 422
    boss.post("/admin/raters", rater=rater, reason="a test of ours", what="exclude")
    assert "heron 0 1 0 0 0 " in words(boss.page)
    assert "Excluded: a test of ours" in words(boss.page)
    assert [json.loads(line)["rater"] for line in boss.load("/admin/talks.jsonl").splitlines()] == [
        talked.desk.raters()[1].id
    ]
    everybody = [json.loads(line) for line in boss.load("/admin/talks.jsonl?excluded=yes").splitlines()]
    assert {one["rater"]: one["excluded"] for one in everybody} == {
        rater: "a test of ours",
        talked.desk.raters()[1].id: "",
    }
    boss.load("/admin")
    boss.post("/admin/raters", rater=rater, what="include")
    assert "heron 1 1 1 0 0 " in words(boss.page)  # their open conversation is not restored


def test_marks_and_conversations_can_be_downloaded(talked: Any) -> None:
    boss = talked.admin()
    marks = list(csv.DictReader(io.StringIO(boss.load("/admin/ratings.csv"))))
    assert [(mark["question"], mark["text"]) for mark in marks] == [("good", "yes")]
    response = boss.http.get("/admin/talks.jsonl")
    name = talked.desk.study.name
    assert response.headers["content-disposition"] == f'attachment; filename="{name}_talks.jsonl"'
    first, second = (json.loads(line) for line in response.text.splitlines())
    assert [message["text"] for pair in first["dialog"] for message in pair][:2] == ["Hello", "Hello"]
    assert (first["item"], "2") == (marks[0]["item"], marks[0]["turn"])
    assert second["dialog"][0][0]["distress"] is True


def test_admin_pages_require_the_token(talked: Any) -> None:
    visitor = talked.visitors[1]
    assert "Log in" in visitor.load("/admin")
    for path in ("/admin/talks.jsonl", "/admin/ratings.csv"):
        response = visitor.http.get(path)
        assert response.status_code == 403
        assert "Hello" not in response.text
    visitor.load("/admin")
    assert visitor.post("/admin/login", admin_token="heron").status_code == 403
    rater = talked.desk.raters()[0].id
    assert visitor.post("/admin/raters", rater=rater, reason="x", what="exclude").status_code == 403
    assert talked.desk.raters()[0].excluded is None


def test_admin_page_does_not_exist_without_token(talked: Any) -> None:
    for token, status in (("", 404), ("0123456789abcdef", 200)):
        site = chat_site(talked.desk, talked.replies, b"0" * 32, ChatSettings(None), token=token)
        with TestClient(site.app()) as client:
            assert client.get("/admin").status_code == status
