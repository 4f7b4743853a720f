"""Attacks on the rating site, one test for each."""

from __future__ import annotations

import hmac
import logging
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from rating_site_lab import EVIL, SECRET, TOKEN, Lab, answers_of, item_of
from tiny_studies import Clock
from web_visitor import FORM, Visitor

from parlai_empathy.errors import StoreError
from parlai_empathy.rating.export import rating_rows
from parlai_empathy.rating.site.pages import rating_site
from parlai_empathy.rating.web.limits import Limits, Rate
from parlai_empathy.rating.web.signing import Signer

SESSION, ADMIN = (f"empathy_{what}_{Signer(SECRET).name}" for what in ("session", "admin"))

Make = Callable[..., Any]


def rows(lab: Any) -> list[dict[str, Any]]:
    return list(rating_rows(lab.store, lab.desk.study.name))


# --- another rater's session and items -------------------------------------------------------------------------------


def test_ids_with_nul_characters_are_rejected(make_study: Make, store_url: str) -> None:
    site = Lab(make_study("humod"), store_url, Clock())
    ann, boss = site.rater(), site.admin()
    assert ann.get("/item/a%00").status == 404
    assert boss.post("/admin/raters", {"rater": "\0", "reason": "x", "what": "exclude"}).status == 422
    assert boss.post("/admin/raters", {"rater": "\0", "what": "include"}).status == 422
    site.store.close()


def test_items_of_other_raters_cannot_be_read(lab: Make) -> None:
    site = lab()
    ann, bob = site.rater(), site.rater()
    item = item_of(ann.page)
    for state in ("open", "answered"):
        page = bob.get(item)
        assert page.status == 404, state
        assert "There is no such page" in page.words
        bob.get("/rate")
        ann.post(item, answers_of(ann.get(item)))


def test_items_of_other_raters_cannot_be_answered(lab: Make) -> None:
    site = lab()
    ann, bob = site.rater(), site.rater()
    item = item_of(ann.page)
    assert bob.post(item, answers_of(bob.page)).status == 404
    ann.post(item, answers_of(ann.page))
    bob.get("/rate")
    assert bob.post(item, {**answers_of(bob.page, "Not hers."), "revise": "yes"}).status == 404
    assert [row["text"] for row in rows(site) if row["text"]] == ["I like them."]


@pytest.mark.parametrize("change", ["id", "signature", "rater"])
def test_forged_session_cookies_are_rejected(lab: Make, change: str) -> None:
    site = lab()
    ann, bob = site.rater(), site.visitor()
    body, _, digest = ann.cookies[SESSION].partition(".")
    forged = {
        "id": f"{body[:-2]}AA.{digest}",
        "signature": f"{body}.{digest[:-2]}AA",
        "rater": f"{body}.",
    }[change]
    bob.cookies[SESSION] = forged
    assert "I have read this" in bob.get("/rate").words
    assert len(site.desk.raters()) == 1


def test_session_cookie_of_another_site_is_rejected(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    other = Visitor(lab(options={"token": TOKEN}).app)  # the same secret, as after a restart
    other.cookies.update(ann.cookies)
    assert other.get("/rate").status == 200
    stranger = Visitor(rating_site(site.desk, b"another secret, of another site").app())
    other_name = f"empathy_session_{Signer(b'another secret, of another site').name}"
    stranger.cookies.update({**ann.cookies, other_name: ann.cookies[SESSION]})
    assert "I have read this" in stranger.get("/rate").words


def test_sites_on_one_host_keep_separate_cookies(lab: Make) -> None:
    site = lab(options={"token": TOKEN})
    ann = site.rater()
    ann.post("/admin/login", {"admin_token": TOKEN})
    one, other = site.app, rating_site(site.desk, b"another secret, of another site", token=TOKEN).app()
    ann.app = other
    assert "I have read this" in ann.get("/rate").words
    ann.get("/admin")
    ann.post("/admin/login", {"admin_token": TOKEN})
    assert len(ann.cookies) == 4
    ann.app = one
    assert ann.get("/rate").status == 200
    assert "I have read this" not in ann.page.words
    assert ann.get("/admin/ratings.csv").status == 200


# --- forged forms ----------------------------------------------------------------------------------------------------


def test_forms_without_the_session_token_are_rejected(lab: Make) -> None:
    site = lab()
    ann, bob = site.rater(), site.rater()
    item = item_of(ann.page)
    for token in ("", "x", bob.page.hidden("token")):
        page = ann.post(item, answers_of(ann.get(item)), token)
        assert page.status == 403
        assert "This form is too old" in page.words
    assert rows(site) == []


def test_forms_without_a_session_are_rejected(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    token = ann.page.hidden("token")
    nobody = site.visitor()
    for address in ("/consent", item_of(ann.page), "/admin/login", "/admin/raters", "/admin/logout"):
        assert nobody.post(address, {"agree": "yes"}, token).status == 403, address
        nobody.cookies.clear()


# --- what is shown is escaped ----------------------------------------------------------------------------------------


def test_untrusted_text_is_escaped_on_all_pages(lab: Make) -> None:
    site = lab(title=EVIL, instructions=EVIL, consent=EVIL, content_warning=EVIL, items=3, gold=True)
    ann = site.visitor()
    pages = [ann.get("/"), ann.post("/consent", {"agree": "yes"}), ann.get("/rate")]
    for _ in range(3):
        item = item_of(ann.page)
        ann.post(item, {"q-own_reply": EVIL})  # rejected, because the other answer is missing
        pages.append(ann.page)
        ann.post(item, {"q-own_reply": EVIL, "q-relevance": "1"})
        pages += [ann.get(item), ann.get("/rate")]
    site.desk.exclude(site.desk.raters()[0].id, EVIL)
    pages += [ann.page, site.admin().page]
    for page in pages:
        assert "<script>" not in page.text
        assert "<b>bold" not in page.text
        assert "&lt;script&gt;alert(&#39;heron&#39;)&lt;/script&gt; &amp; &lt;b&gt;bold&lt;/b&gt;" in page.text


def test_error_pages_do_not_echo_the_requested_path(lab: Make) -> None:
    ann = lab().visitor()
    assert "heron" not in ann.get("/item/<script>heron").text
    assert "heron" not in ann.get("/heron").text


# --- the administrator -----------------------------------------------------------------------------------------------


def test_admin_pages_do_not_exist_without_a_configured_token(lab: Make) -> None:
    ann = lab(options={"token": ""}).visitor()
    for address in ("/admin", "/admin/ratings.csv"):
        assert ann.get(address).status == 404
    assert ann.post("/admin/login", {"admin_token": ""}).status == 404


def test_admin_pages_require_login(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    rater = site.desk.raters()[0].id
    assert "Log in" in ann.get("/admin").words
    assert rater not in ann.page.text
    assert ann.get("/admin/ratings.csv").status == 403
    ann.get("/admin")
    assert ann.post("/admin/raters", {"rater": rater, "reason": "x"}).status == 403
    assert site.desk.raters()[0].excluded is None


@pytest.mark.parametrize("given", ["", "x", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "ü", "\ud800"])
def test_wrong_admin_token_is_rejected(lab: Make, given: str) -> None:
    ann = lab().visitor()
    ann.get("/admin")
    body = urlencode({"token": ann.page.hidden("token"), "admin_token": given}, errors="surrogatepass").encode()
    page = ann.send("/admin/login", body, FORM)
    assert page.status in (400, 403)
    assert ADMIN not in ann.cookies


def test_tokens_are_compared_in_constant_time(lab: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """``hmac.compare_digest`` gets digests of equal length: neither where they differ nor the token's length leaks."""
    compared = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((len(a), len(b)))
        return real(a, b)

    real = hmac.compare_digest
    ann = lab().visitor()
    ann.get("/admin")
    monkeypatch.setattr("parlai_empathy.rating.web.signing.hmac.compare_digest", compare)
    ann.post("/admin/login", {"admin_token": "short"})
    assert len(compared) == 3  # the session's signature, the form's token, the administrator's
    assert set(compared) == {(32, 32)}


def test_admin_cookie_is_strict_and_expires(lab: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    site = lab()
    boss = site.visitor(scheme="https")
    boss.get("/admin")
    page = boss.post("/admin/login", {"admin_token": TOKEN}, follow=False)
    cookie = page.header("set-cookie")
    assert cookie.startswith(f"{ADMIN}=")
    assert cookie.endswith("; Path=/admin; Max-Age=43200; HttpOnly; SameSite=Strict; Secure")
    assert TOKEN not in cookie
    old = dict(boss.cookies)
    boss.get("/admin")
    boss.post("/admin/logout")
    assert boss.cookies[ADMIN] == ""
    assert boss.get("/admin/ratings.csv").status == 403
    boss.cookies.update(old)
    assert boss.get("/admin/ratings.csv").status == 200
    tomorrow = time.time() + 13 * 60 * 60
    monkeypatch.setattr("parlai_empathy.rating.site.admin_access.time.time", lambda: tomorrow)
    assert boss.get("/admin/ratings.csv").status == 403


def test_changing_the_admin_token_ends_all_logins(lab: Make) -> None:
    boss = lab().admin()
    boss.app = lab(options={"token": "another token for the tests"}).app
    assert boss.get("/admin/ratings.csv").status == 403


def test_rater_cookie_does_not_open_admin_pages(lab: Make) -> None:
    ann = lab().rater()
    ann.cookies[ADMIN] = ann.cookies[SESSION]
    assert ann.get("/admin/ratings.csv").status == 403


# --- uploads and sizes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "text/plain", "application/json", ""])
def test_only_urlencoded_forms_are_accepted(lab: Make, kind: str) -> None:
    site = lab()
    ann = site.rater()
    body = urlencode({"token": ann.page.hidden("token"), **answers_of(ann.page)}).encode()
    assert ann.send(item_of(ann.page), body, kind).status == 415
    assert rows(site) == []


def test_oversized_bodies_are_rejected(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    item = item_of(ann.page)
    assert ann.send(item, b"a=" + b"b" * 100_000, FORM).status == 413
    ann.get(item)
    # The longest allowed answer is well below the limit: 500 characters, each encoded as twelve.
    assert ann.post(item, {"q-relevance": "1", "q-own_reply": "🐦" * 500}).status == 200


@pytest.mark.parametrize("body", [b"a=%ff", b"\xff", b"&".join(b"a=1" for _ in range(2000))])
def test_malformed_forms_are_rejected(lab: Make, body: bytes) -> None:
    ann = lab().rater()
    token = urlencode({"token": ann.page.hidden("token")}).encode()
    assert ann.send(item_of(ann.page), token + b"&" + body, FORM).status == 400


# --- limits ----------------------------------------------------------------------------------------------------------


def test_requests_are_rate_limited_per_session(lab: Make) -> None:
    site = lab(options={"token": "", "limits": Limits(visits=Rate(60, 5))})
    ann = site.visitor()
    ann.get("/")
    statuses = [ann.get("/").status for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    assert ann.page.header("retry-after") == "1"
    assert "Too fast" in ann.page.words
    assert site.visitor().get("/").status == 200  # from the same address


def test_new_visitors_are_rate_limited_per_address(lab: Make) -> None:
    site = lab(options={"token": "", "limits": Limits(newcomers=Rate(60, 3))})
    assert [site.visitor().get("/").status for _ in range(5)] == [200, 200, 200, 429, 429]
    assert site.visitor(address="192.0.2.2").get("/").status == 200


def test_login_attempts_are_rate_limited(lab: Make) -> None:
    site = lab(options={"token": TOKEN, "limits": Limits(logins=Rate(1, 2))})
    statuses = []
    for _ in range(3):
        ann = site.visitor()
        ann.get("/admin")
        statuses.append(ann.post("/admin/login", {"admin_token": "guess"}).status)
    assert statuses == [403, 403, 429]
    ann = site.visitor()
    ann.get("/admin")
    assert ann.post("/admin/login", {"admin_token": TOKEN}).status == 429


# --- headers, cookies, logs ------------------------------------------------------------------------------------------


def test_all_pages_have_security_headers(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    for page in (ann.page, ann.get("/"), ann.get("/nowhere"), ann.get("/admin"), ann.get("/static/x/site.css")):
        policy = page.header("content-security-policy").split("; ")
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in page.header("content-security-policy")
        assert page.header("x-frame-options") == "DENY"
        assert page.header("x-content-type-options") == "nosniff"
        assert page.header("referrer-policy") == "same-origin"
        assert page.header("cache-control") == "no-store"


def test_pages_have_no_inline_scripts_or_styles(lab: Make) -> None:
    """The content security policy blocks inline scripts and styles, so they would not work."""
    site = lab()
    ann = site.rater()
    for page in (ann.page, ann.get("/"), site.admin().page):
        assert " style=" not in page.text
        assert "<style" not in page.text
        assert not re.search(r"<[^>]*\son\w+\s*=", page.text)
        assert page.text.count("<script") == page.text.count('<script src="/static/')


def test_pages_load_nothing_from_other_hosts(lab: Make) -> None:
    site = lab()
    ann = site.rater()
    for page in (ann.page, ann.get("/"), site.admin().page):
        assert "http://" not in page.text
        assert "https://" not in page.text


def test_cookies_are_secure_over_https(lab: Make) -> None:
    site = lab()
    plain = site.visitor().get("/").header("set-cookie")
    assert plain.startswith(f"{SESSION}=")
    assert plain.endswith("; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax")  # 90 days
    secure = site.visitor(scheme="https").get("/").header("set-cookie")
    assert secure.startswith(f"__Host-{SESSION}=")
    assert secure.endswith("; HttpOnly; SameSite=Lax; Secure")


def test_mturk_option_allows_framing_by_mechanical_turk(lab: Make) -> None:
    ann = lab(options={"mturk": True}).visitor(scheme="https")
    page = ann.get("/")
    policy = page.header("content-security-policy")
    assert "frame-ancestors https://worker.mturk.com https://workersandbox.mturk.com" in policy
    assert "form-action 'self' https://www.mturk.com https://workersandbox.mturk.com" in policy
    assert page.header("x-frame-options") == ""
    assert page.header("set-cookie").endswith("; HttpOnly; SameSite=None; Partitioned; Secure")
    page = lab(options={"mturk": True}).visitor().get("/")
    assert page.header("set-cookie").endswith("; HttpOnly; SameSite=Lax")  # browsers refuse None without https


def test_logs_contain_no_rater_ids_or_tokens(
    lab: Make, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    site = lab()
    ann = site.visitor()
    ann.get("/?PROLIFIC_PID=5f00000000000000000000aa&SESSION_ID=60aa&STUDY_ID=61")
    ann.post("/consent", {"agree": "yes"})
    ann.get("/rate")
    ann.post(item_of(ann.page), answers_of(ann.page))
    site.admin()
    said = caplog.text + "".join(capfd.readouterr())
    for secret in ("5f00000000000000000000aa", "60aa", TOKEN, ann.cookies[SESSION]):
        assert secret not in said


def test_store_error_shows_503_page_and_answer_can_be_resent(
    lab: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    site = lab()
    ann = site.rater()
    item, said = item_of(ann.page), answers_of(ann.page)

    def fail(*_: object, **__: object) -> None:
        raise StoreError("the store fails")

    with monkeypatch.context() as broken:
        broken.setattr(site.desk, "answer_and_next", fail)
        page = ann.post(item, said)
        assert page.status == 503
        assert "Nothing is stored twice." in page.words
        assert "the store fails" not in page.words
    assert "the store fails" in caplog.text
    ann.get(item)
    assert ann.post(item, said).status == 200
    assert len(rows(site)) == 2


def test_unexpected_error_shows_500_page_without_traceback(
    lab: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    site = lab()
    ann = site.rater()
    monkeypatch.setattr(site.desk, "next_item", lambda rater: 1 // 0)
    page = ann.get("/rate")
    assert page.status == 500
    assert "Traceback" not in page.text
    assert "ZeroDivisionError" in caplog.text
    assert page.header("content-security-policy")
