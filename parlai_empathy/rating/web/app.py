"""A site: routes requests to pages, and takes care of sessions, rate limits, headers, static files and errors."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlai_empathy.errors import EmpathyError
from parlai_empathy.rating.web import error_pages
from parlai_empathy.rating.web.error_pages import Refusal
from parlai_empathy.rating.web.files import PREFIX, static_files
from parlai_empathy.rating.web.headers import completed, headers_of
from parlai_empathy.rating.web.limits import LIMITS, Gate, Limits, client_of
from parlai_empathy.rating.web.requirements import check_installed
from parlai_empathy.rating.web.session import Session, Sessions
from parlai_empathy.rating.web.signing import Signer
from parlai_empathy.rating.web.templating import Templates
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Page = Callable[[Visit], Awaitable["Response"]]
_HERE = Path(__file__).parent
_SESSION = "parlai_empathy.session"
_LOG = logging.getLogger(__name__)


class Site:
    """A web site: its pages and what they share.

    :param title: shown in the frame of every page.
    :param secret: see :func:`~parlai_empathy.rating.web.secret.site_secret`.
    :param folders: hold the site's own ``templates/`` and ``static/``; a template or file there overrides the frame's
        of the same name.
    :param limits: rate limits for clients.
    :param framed_by: origins whose pages may show this site in a frame, such as ``https://worker.mturk.com``.
    :param forms_to: origins other than its own to which its forms may be sent.
    :param longest_form: maximum size of a form's body, in bytes.
    :raises MissingDependencyError: if Starlette, uvicorn or Jinja2 is not installed.
    """

    def __init__(
        self,
        title: str,
        secret: bytes,
        folders: Sequence[Path] = (),
        limits: Limits = LIMITS,
        framed_by: Sequence[str] = (),
        forms_to: Sequence[str] = (),
        longest_form: int = 64 * 1024,
    ) -> None:
        check_installed()
        self.title = title
        self.signer = Signer(secret)
        self.longest_form = longest_form
        self.logins = Gate(limits.logins)
        self._visits, self._newcomers = Gate(limits.visits), Gate(limits.newcomers)
        self._sessions = Sessions(self.signer, embedded=bool(framed_by))
        self._headers = headers_of(framed_by, forms_to)
        self._files = {one.address: one for one in static_files([_HERE / "static", *_each(folders, "static")]).values()}
        addresses = {address.rsplit("/", 1)[1]: address for address in self._files}
        places = [*_each(folders, "templates"), _HERE / "templates"]
        self._templates = Templates(places, {"site_title": title, "static": addresses.__getitem__})
        self._routes: list[Any] = []

    def add(self, path: str, page: Page, method: str = "GET") -> None:
        """Serve a page at a path.

        :param path: may have parameters, as in ``/item/{id}``.
        """
        from starlette.routing import Route

        async def endpoint(request: Request) -> Response:
            return await page(Visit(self, request, request.scope[_SESSION]))

        self._routes.append(Route(path, endpoint, methods=[method]))

    def page(
        self,
        template: str,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        session: Session | None = None,
        **values: Any,
    ) -> Response:
        """Return a page rendered from a template."""
        from starlette.responses import HTMLResponse

        text = self._templates.rendered(template, session, values)
        return HTMLResponse(text, status, dict(headers or {}))

    def address_of(self, scope: Any) -> str:
        """Return the client's address, as the rate limits count it; empty if it is unknown."""
        return client_of(scope["client"][0]) if scope.get("client") else ""

    def app(self) -> Callable[[Any, Any, Any], Awaitable[None]]:
        """Return the site as an ASGI application."""
        from starlette.routing import Router

        return _Application(self, Router(self._routes, redirect_slashes=False))


class _Application:
    """The ASGI application around a site's pages."""

    def __init__(self, site: Site, router: Any) -> None:
        self._site = site
        self._router = router

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        exchange = _Exchange(self._site, scope, send)
        if scope["path"].startswith(PREFIX):
            response = self._file(scope)
        else:
            found = await self._visited(exchange, scope, receive)
            if found is None:
                return
            response = found
        await response(scope, receive, exchange.send)

    def _file(self, scope: Any) -> Response:
        from starlette.responses import Response

        found = self._site._files.get(scope["path"])
        if found is None or scope["method"] not in ("GET", "HEAD"):
            return self._refused(error_pages.not_found())
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "Content-Type": found.kind}
        return Response(found.content, headers=headers)

    async def _visited(self, exchange: _Exchange, scope: Any, receive: Any) -> Response | None:
        """Let a page answer the request; return an error page if it could not, and None otherwise."""
        from starlette.exceptions import HTTPException
        from starlette.requests import ClientDisconnect

        try:
            scope["app"] = self  # unknown paths then raise HTTPException instead of sending plain text
            scope[_SESSION] = exchange.session = self._site._sessions.of(scope)
            self._check_limits(exchange.session, scope)
            await self._router(scope, receive, exchange.send)
        except ClientDisconnect:
            return None
        except Exception as error:
            if exchange.has_begun:
                raise
            if isinstance(error, HTTPException):
                error = error_pages.method_not_allowed() if error.status_code == 405 else error_pages.not_found()
            return self._refused(error)
        return None

    def _check_limits(self, session: Session, scope: Any) -> None:
        site = self._site
        gate, client = (site._visits, session.id) if session.is_known else (site._newcomers, site.address_of(scope))
        if wait := gate.wait(client):
            session.must_be_sent = False  # a new session's cookie would let its owner in at once
            raise error_pages.too_many(wait)

    def _refused(self, error: Exception) -> Response:
        if isinstance(error, Refusal):
            refusal = error
        elif isinstance(error, EmpathyError):
            _LOG.error("%s", error)
            refusal = error_pages.service_unavailable()
        else:
            _LOG.error("unexpected error in a page", exc_info=error)
            refusal = error_pages.broken()
        return self._site.page("refusal.html", refusal.status, refusal.headers, refusal=refusal)


class _Exchange:
    """Sends a response with the headers that all responses have, and the session's cookie if the browser needs it."""

    def __init__(self, site: Site, scope: Any, send: Any) -> None:
        self.session: Session | None = None
        self.has_begun = False
        self._site = site
        self._scope = scope
        self._send = send

    async def send(self, message: Any) -> None:
        """Send one ASGI message of the response."""
        if message["type"] == "http.response.start":
            self.has_begun = True
            own = list(message.get("headers", []))
            if self.session and self.session.must_be_sent:
                cookie = self._site._sessions.cookie(self._scope, self.session)
                own.append((b"set-cookie", cookie.encode()))
            message = {**message, "headers": completed(own, self._site._headers)}
        await self._send(message)


def _each(folders: Sequence[Path], name: str) -> list[Path]:
    return [folder / name for folder in folders]
