"""A visitor of a site, without a server or a library: calls an ASGI application as a server would."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

_THREADS = ThreadPoolExecutor(8)
FORM = "application/x-www-form-urlencoded"


@dataclass
class Page:
    """A site's response."""

    status: int
    headers: list[tuple[str, str]]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def words(self) -> str:
        """The visible text, without tags, in one line."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())

    @property
    def location(self) -> str:
        return self.header("location")

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    def hidden(self, name: str) -> str:
        """Return the value of a hidden field."""
        found = re.search(f'<input type="hidden" name="{name}" value="([^"]*)">', self.text)
        return unescape(found[1]) if found else ""


class Visitor:
    """A minimal browser: cookies, redirects, forms.

    :param address: its IP address; visitors may share one.
    :param scheme: ``https`` as behind a trusted proxy.
    """

    def __init__(self, app: Any, address: str = "192.0.2.1", scheme: str = "http") -> None:
        self.app = app
        self.address = address
        self.scheme = scheme
        self.cookies: dict[str, str] = {}
        self.page = Page(0, [], b"")

    def get(self, address: str, method: str = "GET", follow: bool = True) -> Page:
        return self._ask(method, address, b"", {}, follow)

    def post(
        self, address: str, fields: Mapping[str, str] | None = None, token: str | None = None, follow: bool = True
    ) -> Page:
        """Send a form, with the token of the last page or with another one."""
        fields = {"token": self.page.hidden("token") if token is None else token, **(fields or {})}
        return self.send(address, urlencode(fields).encode(), FORM, follow)

    def send(self, address: str, body: bytes, kind: str, follow: bool = True) -> Page:
        return self._ask("POST", address, body, {"content-type": kind}, follow)

    def _ask(self, method: str, address: str, body: bytes, headers: dict[str, str], follow: bool) -> Page:
        # In another thread: Playwright runs an event loop in the tests' thread.
        page = _THREADS.submit(asyncio.run, self._exchange(method, address, body, headers)).result()
        for name, value in page.headers:
            if name == "set-cookie":
                key, _, text = value.split(";")[0].partition("=")
                self.cookies[key] = text
        if follow and 300 <= page.status < 400:
            return self.get(page.location)
        self.page = page
        return page

    async def _exchange(self, method: str, address: str, body: bytes, headers: dict[str, str]) -> Page:
        parts = urlsplit(address)
        sent = {**headers, "host": "testserver"}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{key}={value}" for key, value in self.cookies.items())
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": self.scheme,
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(key.encode(), value.encode()) for key, value in sent.items()],
            "client": (self.address, 50000),
            "server": ("testserver", 80),
        }
        incoming = [{"type": "http.request", "body": body, "more_body": False}]
        outgoing: list[Any] = []

        async def receive() -> Any:
            return incoming.pop(0) if incoming else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            outgoing.append(message)

        await self.app(scope, receive, send)
        found = [(key.decode(), value.decode()) for key, value in outgoing[0]["headers"]]
        return Page(outgoing[0]["status"], found, b"".join(one.get("body", b"") for one in outgoing[1:]))
