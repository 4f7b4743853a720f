"""Sites built from pages."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from web_visitor import Visitor

from parlai_empathy.errors import MissingDependencyError
from parlai_empathy.rating.web.app import Site
from parlai_empathy.rating.web.error_pages import Refusal
from parlai_empathy.rating.web.files import static_files
from parlai_empathy.rating.web.headers import completed, headers_of
from parlai_empathy.rating.web.limits import Limits, Rate
from parlai_empathy.rating.web.templating import moment
from parlai_empathy.rating.web.threads import in_thread
from parlai_empathy.rating.web.visit import Visit

SECRET = b"0123456789abcdef"
HELLO = """{% extends "frame.html" %}{% block main %}<h1>Hello, {{ name }}!</h1>
<form method="post" action="/name">{{ token() }}</form>{% endblock %}"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    for folder in ("templates", "static"):
        (tmp_path / folder).mkdir()
    (tmp_path / "templates" / "hello.html").write_text(HELLO)
    (tmp_path / "static" / "heron.css").write_text("h1 { color: grey }")
    site = Site("Herons", SECRET, [tmp_path])

    async def show(visit: Visit) -> Any:
        return visit.page("hello.html", name=visit.session.get("name") or "stranger")

    async def rename(visit: Visit) -> Any:
        form = await visit.form()
        visit.session.put("name", await in_thread(str.upper, form.text("name")))
        return visit.redirect("/")

    async def refuse(visit: Visit) -> Any:
        raise Refusal(418, "No tea", f"I am {visit.part('what')}, at {visit.address}.", {"x-tea": "no"})

    site.add("/", show)
    site.add("/name", rename, method="POST")
    site.add("/refuse/{what}", refuse)
    return site


def test_pages_sessions_and_forms_work_together(site: Site) -> None:
    ann, bob = Visitor(site.app()), Visitor(site.app())
    assert "Hello, stranger!" in ann.get("/").words
    assert "Hello, <B>ANN</B>!" in ann.post("/name", {"name": "<b>ann</b>"}).words
    assert "Hello, stranger!" in bob.get("/").words


def test_refusals_are_rendered_as_pages(site: Site) -> None:
    page = Visitor(site.app()).get("/refuse/a%20pot")
    assert page.status == 418
    assert "No tea I am a pot, at 192.0.2.1." in page.words
    assert page.header("x-tea") == "no"
    assert page.header("content-security-policy")


def test_refusal_of_a_newcomer_gives_no_session(tmp_path: Path) -> None:
    """With one, the limit on newcomers could be passed by taking it from the refusal."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "hello.html").write_text(HELLO)
    site = Site("Herons", SECRET, [tmp_path], limits=Limits(newcomers=Rate(1, 1)))

    async def show(visit: Visit) -> Any:
        return visit.page("hello.html", name="you")

    site.add("/", show)
    app = site.app()
    ann, bob = Visitor(app), Visitor(app)
    assert ann.get("/").status == 200
    assert ann.get("/").status == 200  # has a session
    assert bob.get("/").status == 429
    assert (bob.page.header("set-cookie"), bob.cookies) == ("", {})
    assert bob.get("/").status == 429


def test_unknown_paths_give_404_and_wrong_methods_405(site: Site) -> None:
    ann = Visitor(site.app())
    assert ann.get("/nowhere").status == 404
    assert ann.get("/name").status == 405
    assert ann.get("/", method="DELETE").status == 405
    head = ann.get("/", method="HEAD")
    assert head.status == 200
    assert ann.get("//evil.example").status == 404
    assert ann.get("/refuse/").status == 404


def test_static_files_are_cached_and_nothing_else_is_served(site: Site) -> None:
    ann = Visitor(site.app())
    address = next(one for one in site._files if one.endswith("/heron.css"))
    page = ann.get(address)
    assert (page.status, page.text) == (200, "h1 { color: grey }")
    assert page.header("content-type") == "text/css; charset=utf-8"
    assert page.header("cache-control") == "public, max-age=31536000, immutable"
    assert "set-cookie" not in dict(page.headers)
    for other in (
        "/static/",
        "/static/heron.css",
        f"{address}/..",
        "/static/../templates/hello.html",
        "/static/%2e%2e/",
    ):
        assert ann.get(other).status == 404, other
    assert ann.send(address, b"", "text/plain").status == 404


def test_static_file_address_changes_with_content(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("1")
    first = static_files([tmp_path])["a.css"].address
    (tmp_path / "a.css").write_text("2")
    assert static_files([tmp_path])["a.css"].address != first
    assert static_files([tmp_path / "nothing"]) == {}


def test_framing_is_denied_by_default() -> None:
    assert headers_of()["X-Frame-Options"] == "DENY"
    framed = headers_of(["https://a.example", "https://b.example"], ["https://c.example"])
    assert "X-Frame-Options" not in framed
    policy = framed["Content-Security-Policy"]
    assert "frame-ancestors https://a.example https://b.example" in policy
    assert "form-action 'self' https://c.example" in policy


def test_default_headers_do_not_override_existing_ones() -> None:
    own = [(b"Cache-Control", b"public"), (b"x", b"1")]
    assert completed(own, {"Cache-Control": "no-store", "Y": "2"}) == [*own, (b"y", b"2")]


def test_error_after_response_start_propagates(site: Site) -> None:
    async def half(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("no more")

    async def halting(visit: Visit) -> Any:
        return half

    site.add("/stream", halting)
    with pytest.raises(RuntimeError, match="no more"):
        Visitor(site.app()).get("/stream")


def test_disconnect_during_request_sends_no_response(site: Site) -> None:
    sent: list[Any] = []

    async def exchange() -> None:
        async def receive() -> Any:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"content-type", b"application/x-www-form-urlencoded")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/name",
            "headers": headers,
            "query_string": b"",
            "scheme": "http",
        }
        await site.app()({**scope, "client": None, "root_path": ""}, receive, send)

    import threading

    thread = threading.Thread(target=lambda: asyncio.run(exchange()))
    thread.start()
    thread.join()
    assert sent == []


@pytest.mark.parametrize("name", ["starlette", "uvicorn", "jinja2"])
def test_missing_library_error_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=f"{name}, which is not installed: pip install .*site"):
        Site("Herons", SECRET)


def test_moment_formats_time_in_utc() -> None:
    assert moment(0.0) == "1970-01-01 00:00 UTC"
