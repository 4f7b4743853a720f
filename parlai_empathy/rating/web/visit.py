"""One request, as pages see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from parlai_empathy.rating.web.form import Form, fields_of, storable_id
from parlai_empathy.rating.web.refusals import forged, no_form, not_found, too_large
from parlai_empathy.rating.web.session import Session

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from parlai_empathy.rating.web.app import Site

TOKEN = "token"
"""The field that every form carries against forgery."""

_FORM = "application/x-www-form-urlencoded"


class Visit:
    """A request, the session that it belongs to, and what a page may answer.

    :param request: Starlette's, for whatever is not here.
    """

    def __init__(self, site: Site, request: Request, session: Session) -> None:
        self.site = site
        self.request = request
        self.session = session

    @property
    def query(self) -> Mapping[str, str]:
        """What stands behind the ``?`` of the address."""
        return self.request.query_params

    def part(self, name: str) -> str:
        """A part of the address that a page has left open: of ``/item/{id}`` the ``id``.

        :raises Refusal: if nothing in the store can be called so.
        """
        if not (part := storable_id(str(self.request.path_params[name]))):
            raise not_found()
        return part

    @property
    def address(self) -> str:
        """Of the visitor, or of their household's network."""
        return self.site.address_of(self.request.scope)

    async def form(self) -> Form:
        """The form that was sent, from a page of ours to this very session.

        :raises Refusal: if it is anything else.
        """
        fields = fields_of(await self._body())
        if not self.session.is_known or not self.session.is_own(fields.pop(TOKEN, "")):
            raise forged()
        return Form(fields)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of a template."""
        return self.site.page(template, status, session=self.session, **values)

    def redirect(self, address: str) -> Response:
        """Send the visitor's browser elsewhere, to read."""
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
