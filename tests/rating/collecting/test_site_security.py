"""Attacks on a collection: reading or changing another person's conversation, forged forms, too many requests."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from collecting_lab import EVIL, TOKEN, Lab, judge, said, say, talk
from tiny_studies import Clock

from parlai_empathy.rating.collecting.site import collect_site
from parlai_empathy.rating.web.limits import Limits, Rate

Make = Callable[..., Lab]
FORMS = ("/prompt", "/wait", "/leave", "/again", "/say", "/end", "/judge")


def test_conversation_of_others_cannot_be_read_or_changed(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    talk(first, second, end=False)
    first.get("/talk")
    id = first.page.hidden("talk")
    pages = [site.person(), site.waiting("I won a cake.")]
    pages += site.pair()  # who have their own conversation
    for other in pages:
        for path in ("/talk", "/events", f"/talk?talk={id}", "/admin/conversations.csv"):
            assert "Message 1, well." not in other.get(path).text
        other.get("/talk")
        for path in ("/say", "/end", "/judge", "/leave"):
            fields = {"talk": id, "place": f"TALK-{id}", "turn": "5", "text": "I am you", "q-empathy": "1"}
            token = other.page.hidden("token")
            page = other.post(path, {**fields, "q-relevance": "1", "q-understandability": "1"}, token=token)
            assert "Message 1, well." not in page.text
    assert said(first.get("/talk") and first) == [f"Message {turn}, well." for turn in range(1, 5)]
    assert "It is your turn." in first.page.words


def test_null_characters_in_ids_are_handled(store_url: str) -> None:
    site = Lab(store_url, Clock())
    first, _ = site.pair()
    for path, status in (("/say", 409), ("/end", 200), ("/judge", 200), ("/leave", 200)):
        first.get("/talk")
        form = {"talk": "\0", "place": "\0", "turn": "1", "text": "Hello"}
        assert first.post(path, form).status == status, path
    assert say(first, "Hello").status == 200
    site.store.close()


def test_partner_cannot_speak_for_the_other_person(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    for turn in ("1", "3"):
        form = {"talk": second.page.hidden("talk"), "turn": turn, "text": "I am you"}
        assert second.post("/say", form).status == 409
    talk(first, second)
    judge(second)
    with site.store.reading() as t:
        assert {row["rater"] for row in t.rows("SELECT rater FROM rating_evaluations")} == {site.desk.raters()[1].id}


def test_forms_without_valid_token_are_rejected(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    fields = {"talk": first.page.hidden("talk"), "turn": "1", "text": "Hello", "place": "TALK-x", "agree": "yes"}
    for path in ("/consent", *FORMS, "/admin/login", "/admin/logout", "/admin/raters"):
        for token in ("", "x", second.page.hidden("token")):
            assert first.post(path, fields, token=token).status == 403, path
    assert said(first.get("/talk") and first) == []


@pytest.mark.parametrize("path", FORMS)
def test_form_paths_reject_get_requests(lab: Make, path: str) -> None:
    first, _ = lab().pair()
    assert first.get(path).status == 405


def test_user_text_is_escaped(lab: Make) -> None:
    site = lab()
    first = site.waiting(f"{EVIL}")
    assert "alert" in first.page.words
    second = site.waiting("I fell into the pond.")
    pages = [first.page, say(first, EVIL), second.get("/talk"), say(second, f"</textarea>{EVIL}"), first.get("/talk")]
    pages += [say(first, "x" * 1001 + EVIL)]
    talk(first, second, turns=0)
    say(first, EVIL)
    say(second, EVIL)
    second.post("/end", {"talk": second.page.hidden("talk")})
    pages += [second.page, first.get("/talk")]
    site.desk.exclude(site.desk.raters()[0].id, EVIL)
    pages.append(site.admin().page)
    for page in pages:
        assert "<script>alert" not in page.text
        assert "<b>bold" not in page.text
        assert "</textarea><" not in page.text.replace("</textarea>\n<", "")
    assert sum("&lt;script&gt;alert" in page.text for page in pages) == len(pages)


def test_pages_have_security_headers_and_no_external_resources(lab: Make) -> None:
    site = lab()
    first, second = site.pair()
    say(first, "I want to die")
    for page in (first.page, second.get("/talk"), site.waiting().page, site.admin().page):
        policy = page.header("content-security-policy")
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert page.header("cache-control") == "no-store"
        assert re.findall(r"<script(?! src=\"/static/)", page.text) == []
        assert not re.search(r"<style|\sstyle=|\son\w+=", page.text)
        loaded = re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="([^"]*)"', page.text)
        assert all(address.startswith("/static/") for address in loaded)


def test_too_many_messages_get_429(lab: Make) -> None:
    first, second = lab(messages=Rate(1, 1)).pair()
    say(first, "One")
    say(second, "Two")  # others are not limited
    page = say(first, "Three")
    assert page.status == 429
    assert int(page.header("retry-after")) >= 1
    assert said(first.get("/talk") and first) == ["One", "Two"]


def test_too_many_visits_or_login_attempts_get_429(lab: Make) -> None:
    site = lab()
    rare = Rate(1, 4)
    site.app = collect_site(site.desk, b"x" * 32, site.settings, TOKEN, Limits(rare, Rate(9e9, 9), Rate(1, 1))).app()
    visitor = site.visitor()
    visitor.get("/admin")
    token = visitor.page.hidden("token")
    assert [visitor.post("/admin/login", {"admin_token": "x"}, token=token).status for _ in range(2)] == [403, 429]
    assert [visitor.get("/talk", follow=False).status for _ in range(4)][-1] == 429


def test_admin_pages_do_not_exist_without_token(lab: Make) -> None:
    site = lab()
    site.app = collect_site(site.desk, b"x" * 32, site.settings).app()
    for path in ("/admin", "/admin/conversations.csv"):
        assert site.visitor().get(path).status == 404


def test_admin_actions_require_the_token(lab: Make) -> None:
    site = lab()
    first, _ = site.pair()
    assert first.get("/admin/conversations.csv").status == 403
    first.get("/admin")
    assert first.post("/admin/login", {"admin_token": "a token for the test"}).status == 403
    assert first.post("/admin/raters", {"rater": "x", "what": "include"}).status == 403


def test_tampered_cookie_is_rejected(lab: Make) -> None:
    site = lab()
    first, _ = site.pair()
    say(first, "my private words")
    [(name, value)] = first.cookies.items()
    for changed in (value[:-1] + ("A" if value[-1] != "A" else "B"), value.partition(".")[0] + ".", ""):
        first.cookies = {name: changed}
        assert "I agree to take part" in first.get("/talk").words


def test_oversized_body_and_file_upload_are_rejected(lab: Make) -> None:
    first, _ = lab().pair()
    assert say(first, "x" * 100_000).status == 413
    assert first.send("/say", b"--x", "multipart/form-data; boundary=x").status == 415


def test_conversation_text_is_never_logged(lab: Make, logged: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    site = lab()
    first, second = site.pair()
    say(first, "my private words: I want to die")
    say(second, "my private words")
    everything = "\n".join([*logged, *capfd.readouterr()])
    assert "mentions self-harm" in everything
    for secret in ("private", first.page.hidden("talk"), *(one.id for one in site.desk.raters())):
        assert secret not in everything
