"""The address and key of an OpenAI-compatible server, which are read from the environment only.

An option would end up in logs, the shell's history and ParlAI's ``.opt`` files, where a key must not be.
"""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from parlai_empathy.errors import OptionError

OFFICIAL = "https://api.openai.com/v1"

# The client requires a key; self-hosted servers mostly do not.
_PLACEHOLDER = "no-key"

_SHORTEST_KEY = 8  # characters

# The client reads these itself and sends them in headers.
_ALSO_SENT = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")


@dataclass(frozen=True)
class ServerAddress:
    """A server's address and key.

    :param url: the address as passed to the client; it may contain a password.
    :param headers: ``OPENAI_CUSTOM_HEADERS``, which the client reads itself: ``name: value`` on each line.
    """

    url: str = field(repr=False)
    key: str = field(repr=False)
    headers: str = field(default="", repr=False)

    @property
    def public(self) -> str:
        """The address without user, password and query, for messages and cache keys."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    def without_secrets(self, text: str) -> str:
        """Return the text with key, password and headers masked: some servers repeat them in their error messages."""
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return text

    def _secrets(self) -> list[str]:
        parts = urlsplit(self.url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        # The client sends a user in the address instead of the key, in this form.
        coded = b64encode(f"{user}:{password}".encode()).decode() if user or password else ""
        # A header may hold another key, by itself or after "Bearer". Short values such as "true" are no secrets.
        values = [line.partition(":")[2] for line in self.headers.split("\n")]
        sent = [word for value in values for word in value.split() if len(word) >= _SHORTEST_KEY]
        found = [self.key if self.key != _PLACEHOLDER else "", coded, parts.password or "", password, *sent]
        return [secret for secret in found if secret]


def server_address() -> ServerAddress:
    """Read ``OPENAI_BASE_URL`` (default: OpenAI's own server) and ``OPENAI_API_KEY``.

    :raises OptionError: if neither is set, or if one of them, or another value that the client sends, is invalid.
    """
    url = os.environ.get("OPENAI_BASE_URL", "").strip()
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not url and not key:
        raise OptionError(
            "OPENAI_API_KEY is not set: export a key, or OPENAI_BASE_URL for a server of your own that needs none"
        )
    if url and not _is_address(url):
        raise OptionError("OPENAI_BASE_URL is not a valid address: write it like http://localhost:8000/v1")
    for name, value in {"OPENAI_API_KEY": key, **{name: os.environ.get(name, "") for name in _ALSO_SENT}}.items():
        lines = value.split("\n") if name == "OPENAI_CUSTOM_HEADERS" else [value]
        if not all(line.isascii() and line.isprintable() for line in lines):
            raise OptionError(f"{name} contains characters that cannot be sent: copy it again")
    return ServerAddress(url or OFFICIAL, key or _PLACEHOLDER, os.environ.get("OPENAI_CUSTOM_HEADERS", ""))


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
