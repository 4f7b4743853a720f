"""Access to the administration page, for those who have the token in the server's environment."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from parlai_empathy.errors import OptionError
from parlai_empathy.files.text_file import has_half_characters
from parlai_empathy.rating.web.error_pages import Refusal, too_many
from parlai_empathy.rating.web.session import cookie, cookies_of
from parlai_empathy.rating.web.signing import is_same
from parlai_empathy.rating.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

VARIABLE = "EMPATHY_ADMIN_TOKEN"
"""The environment variable that holds the token."""

_LEAST = 16
_COOKIE = "empathy_admin_"
_PATH = "/admin"
_HOURS = 12


def admin_token(environment: Mapping[str, str] = os.environ) -> str:
    """Return the administrator's token; empty if there is none, in which case there is no administration page.

    :raises OptionError: if it is so short that it could be guessed, or not a text.
    """
    token = environment.get(VARIABLE, "").strip()
    if token and len(token) < _LEAST:
        raise OptionError(f"{VARIABLE} has {len(token)} characters: expected at least {_LEAST}")
    if has_half_characters(token):
        raise OptionError(f"{VARIABLE} is not a text in UTF-8: expected a token that can be typed")
    return token


class AdminDoor:
    """Logs in visitors who know the token, and remembers them in a cookie for some hours.

    :param token: the correct token; a new one invalidates all earlier cookies.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    def is_open(self, visit: Visit) -> bool:
        """Whether the visitor is logged in."""
        given = cookies_of(visit.request.scope).get(_name(visit), "")
        since = visit.site.signer.read(self._purpose(visit), given)
        return since is not None and time.time() - float(since) < _HOURS * 60 * 60

    def check(self, visit: Visit) -> None:
        """Check that the visitor is logged in.

        :raises Refusal: if they are not.
        """
        if not self.is_open(visit):
            raise Refusal(403, "You are not logged in", "Go to /admin and log in.")

    def try_token(self, visit: Visit, given: str, response: Response) -> bool:
        """Log somebody in by adding a cookie to ``response``; return whether their token is correct.

        :raises Refusal: if there were too many attempts from their address.
        """
        if wait := visit.site.logins.wait(visit.address):
            raise too_many(wait)
        if not is_same(given.strip(), self._token):
            return False
        value = visit.site.signer.token(self._purpose(visit), f"{time.time():.0f}")
        self._set(visit, response, value, _HOURS * 60 * 60)
        return True

    def close(self, visit: Visit, response: Response) -> None:
        """Log the visitor out by deleting their cookie."""
        self._set(visit, response, "", 0)

    def _set(self, visit: Visit, response: Response, value: str, seconds: int) -> None:
        header = cookie(visit.request.scope, _name(visit), value, "Strict", seconds, _PATH)
        response.headers.append("set-cookie", header)

    def _purpose(self, visit: Visit) -> str:
        return f"admin {visit.site.signer.digest('admin token', self._token)}"


def _name(visit: Visit) -> str:
    """Return the cookie's name. It differs between sites, since sites on different ports of a host share cookies."""
    return f"{_COOKIE}{visit.site.signer.name}"
