"""A visitor's session: a few texts in a signed cookie. The server stores no sessions, so a restart loses none."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from typing import Any

from parlai_empathy.rating.web.signing import Signer, is_same

DAYS = 90
"""Days after which a session expires."""

_NAME = "empathy_session_"


class Session:
    """A visitor's session, as their browser sent it.

    :param id: random; the form token is derived from it.
    :param began: when it began, in seconds since 1970.
    :param known: whether the browser already has it.
    """

    def __init__(self, signer: Signer, id: str, values: dict[str, str], began: float, known: bool) -> None:
        self.id = id
        self.is_known = known
        self.must_be_sent = not known
        self._signer = signer
        self._values = values
        self._began = began

    def get(self, name: str) -> str | None:
        """Return a value; None if there is none."""
        return self._values.get(name)

    def put(self, name: str, value: str) -> None:
        """Set a value, of at most some 200 characters: browsers limit the size of cookies."""
        self.must_be_sent = self.must_be_sent or self._values.get(name) != value
        self._values[name] = value

    @property
    def form_token(self) -> str:
        """The CSRF token in the session's forms, which no other site can know."""
        return self._signer.digest("form", self.id)

    def is_own(self, token: str) -> bool:
        """Whether a form with this token comes from the session's own pages."""
        return is_same(token, self.form_token)

    def as_token(self) -> str:
        """Return the session as a signed token."""
        text = json.dumps({"id": self.id, "began": self._began, "values": self._values}, separators=(",", ":"))
        return self._signer.token("session", text)


class Sessions:
    """Reads sessions from cookies and writes them to cookies.

    :param signer: holds the site's secret.
    :param embedded: whether the site is shown in frames of other sites, such as a crowdsourcing marketplace. Browsers
        send cookies there only if they are marked for it, and only over https.
    :param clock: returns seconds since 1970.
    """

    def __init__(self, signer: Signer, embedded: bool = False, clock: Callable[[], float] = time.time) -> None:
        self._signer = signer
        self._embedded = embedded
        self._clock = clock

    def of(self, scope: Any) -> Session:
        """Return the session of a request; a new one if it has none, or one that has expired or was not signed here."""
        token = cookies_of(scope).get(self._name(scope), "")
        return self._read(token) or Session(self._signer, secrets.token_hex(16), {}, self._clock(), known=False)

    def cookie(self, scope: Any, session: Session) -> str:
        """Return the ``Set-Cookie`` header that stores a session in the browser."""
        same_site = "None; Partitioned" if self._embedded and is_secure(scope) else "Lax"
        return cookie(scope, self._name(scope), session.as_token(), same_site, seconds=DAYS * 24 * 60 * 60)

    def _name(self, scope: Any) -> str:
        """Return the cookie's name. It differs between sites, since sites on different ports of a host share cookies.

        Browsers accept a cookie whose name begins with ``__Host-`` only over https, and not from related hosts.
        """
        return f"{'__Host-' if is_secure(scope) else ''}{_NAME}{self._signer.name}"

    def _read(self, token: str) -> Session | None:
        text = self._signer.read("session", token) if token else None
        if text is None:
            return None
        found = json.loads(text)  # cannot fail: the signature proves that we wrote it
        if self._clock() - found["began"] > DAYS * 24 * 60 * 60:
            return None
        return Session(self._signer, found["id"], found["values"], found["began"], known=True)


def is_secure(scope: Any) -> bool:
    """Whether a request came over https, possibly through a trusted proxy."""
    return bool(scope.get("scheme") == "https")


def cookies_of(scope: Any) -> dict[str, str]:
    """Return the cookies of a request by name."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            for part in value.decode("latin-1").split(";"):
                key, _, text = part.strip().partition("=")
                found[key] = text
    return found


def cookie(scope: Any, name: str, value: str, same_site: str, seconds: int, path: str = "/") -> str:
    """Return a ``Set-Cookie`` header: ``HttpOnly``, and ``Secure`` if the request came over https."""
    secure = "; Secure" if is_secure(scope) else ""
    return f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"
