"""Signed tokens: texts that a visitor's browser stores and sends back, and that cannot be changed unnoticed.

A token is the text in base64, a dot, and its HMAC-SHA256 (RFC 2104). Each purpose has its own key, so a token for one
purpose is invalid for another. Visitors can read tokens, but cannot make or change them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac


class Signer:
    """Makes and reads tokens.

    :param secret: at least 16 bytes that nobody else knows.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 16:
            raise ValueError(f"secret has {len(secret)} bytes: expected at least 16")
        self._secret = secret
        self._keys: dict[str, bytes] = {}

    @property
    def name(self) -> str:
        """Eight characters that differ between secrets but reveal nothing about them."""
        return self.digest("name", "")[:8]

    def token(self, purpose: str, text: str) -> str:
        """Return ``text`` as a token."""
        return f"{_as_base64(text.encode())}.{self.digest(purpose, text)}"

    def read(self, purpose: str, token: str) -> str | None:
        """Return the text of a token; None if it was made elsewhere, for another purpose, or changed."""
        body, _, digest = token.partition(".")
        try:
            text = _of_base64(body)
        except (binascii.Error, ValueError):
            return None
        return text if is_same(digest, self.digest(purpose, text)) else None

    def digest(self, purpose: str, text: str) -> str:
        """Return the HMAC of ``text``, which only the owner of the secret can compute."""
        key = self._keys.get(purpose)
        if key is None:
            key = self._keys[purpose] = hmac.digest(self._secret, purpose.encode(), "sha256")
        return _as_base64(hmac.digest(key, text.encode(), "sha256"))


def is_same(given: str, right: str) -> bool:
    """Whether two texts are equal. The time this takes reveals neither where they differ nor how long they are."""
    digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (given, right)]
    return hmac.compare_digest(*digests)


def _as_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _of_base64(text: str) -> str:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()
