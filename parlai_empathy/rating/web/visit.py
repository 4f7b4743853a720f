"""One request, as a page sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from parlai_empathy.rating.web.error_pages import csrf_failed, no_form, not_found, too_large
from parlai_empathy.rating.web.form import Form, fields_of, storable_id
from parlai_empathy.rating.web.session import Session

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from parlai_empathy.rating.web.app import Site

TOKEN = "token"
"""The hidden field that holds a form's CSRF token."""

_FORM = "application/x-www-form-urlencoded"


class Visit:
    """A request, its session, and the responses that a page can give.

    :param request: Starlette's request, for everything that this class does not offer.
    """

    def __init__(self, site: Site, request: Request, session: Session) -> None:
        self.site = site
        self.request = request
        self.session = session

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters of the URL."""
        return self.request.query_params

    def part(self, name: str) -> str:
        """Return a path parameter, such as the ``id`` of ``/item/{id}``.

        :raises Refusal: if it cannot be an id in the store.
        """
        if not (part := storable_id(str(self.request.path_params[name]))):
            raise not_found()
        return part

    @property
    def address(self) -> str:
        """The address of the visitor, or of their household's network."""
        return self.site.address_of(self.request.scope)

    async def form(self) -> Form:
        """Return the submitted form, which must come from one of this session's own pages.

        :raises Refusal: if it has no valid CSRF token, is too long, or is not a plain form.
        """
        fields = fields_of(await self._body())
        if not self.session.is_known or not self.session.is_own(fields.pop(TOKEN, "")):
            raise csrf_failed()
        return Form(fields)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page rendered from a template."""
        return self.site.page(template, status, session=self.session, **values)

    def redirect(self, address: str) -> Response:
        """Redirect the visitor's browser to another page, which it requests with GET."""
        from starlette.responses import RedirectResponse

        return RedirectResponse(address, status_code=303)

    async def _body(self) -> bytes:
        kind = self.request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != _FORM:
            raise no_form()
        body = bytearray()
        async for part in self.request.stream():
            body += part
            if len(body) > self.site.longest_form:
                raise too_large()
        return bytes(body)
