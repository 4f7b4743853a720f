"""Signed tokens that cannot be forged or changed."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.rating.web.signing import Signer, is_same

SECRET = b"0123456789abcdef"
TEXTS = st.text(st.characters(codec="utf-8"), max_size=50)


@given(TEXTS, TEXTS)
def test_tokens_are_readable_only_with_same_secret_and_purpose(purpose: str, text: str) -> None:
    token = Signer(SECRET).token(purpose, text)
    assert Signer(SECRET).read(purpose, token) == text
    assert Signer(b"another secret of 16").read(purpose, token) is None
    assert Signer(SECRET).read(f"{purpose}x", token) is None


@given(TEXTS, st.data())
def test_tampered_token_is_never_read_as_another_text(text: str, data: st.DataObject) -> None:
    token = Signer(SECRET).token("x", text)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters().filter(lambda letter: letter != token[place]))
    changed = f"{token[:place]}{other}{token[place + 1 :]}"
    # The last letter of base64 has unused bits: another letter may decode to the same text, never to a different one.
    assert Signer(SECRET).read("x", changed) in (None, text)


def test_signer_name_is_cookie_safe_and_depends_on_secret() -> None:
    name = Signer(SECRET).name
    assert name == Signer(SECRET).name != Signer(b"another secret of 16").name
    assert len(name) == 8
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")  # for a cookie


@given(st.text())
def test_arbitrary_text_is_not_a_token(text: str) -> None:
    assert Signer(SECRET).read("x", text) is None


def test_token_is_hmac_sha256_of_rfc_2104() -> None:
    key = hmac.new(SECRET, b"session", hashlib.sha256).digest()
    digest = base64.urlsafe_b64encode(hmac.new(key, b"heron", hashlib.sha256).digest()).decode().rstrip("=")
    assert Signer(SECRET).token("session", "heron") == f"aGVyb24.{digest}"


def test_short_secret_raises_value_error() -> None:
    with pytest.raises(ValueError, match="secret has 5 bytes: expected at least 16"):
        Signer(b"short")


@given(st.text(max_size=5), st.text(max_size=5))
def test_is_same_agrees_with_equality(a: str, b: str) -> None:
    assert is_same(a, b) == (a == b)
