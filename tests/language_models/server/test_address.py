"""A server's address and key from the environment."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.language_models.server.address import OFFICIAL, ServerAddress, server_address


def environment(monkeypatch: pytest.MonkeyPatch, url: str, key: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", key)


def test_official_server_requires_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, "", " sk-1\n")
    assert (server_address().url, server_address().key) == (OFFICIAL, "sk-1")
    environment(monkeypatch, "", " ")
    with pytest.raises(OptionError, match="OPENAI_API_KEY is not set"):
        server_address()


def test_custom_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, "http://localhost:8000/v1", "")
    address = server_address()
    assert address.url == "http://localhost:8000/v1"
    assert address.key, "the client insists on one"
    assert address.without_secrets(f"a {address.key}") == f"a {address.key}", "the placeholder is no secret"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://", "http://x:port/v1", "http://[::1/v1"])
def test_invalid_url_raises_option_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, url, "sk-1")
    with pytest.raises(OptionError, match="OPENAI_BASE_URL is not a valid address"):
        server_address()


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"])
@pytest.mark.parametrize("value", ["a-\r1", "clé", "a-\u200b"])
def test_what_no_header_can_hold_raises_option_error_without_showing_it(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(monkeypatch, "", "sk-1")
    monkeypatch.setenv(name, value)
    with pytest.raises(OptionError, match=f"{name} contains characters that cannot be sent: copy it again") as caught:
        server_address()
    assert value not in str(caught.value)


def test_only_custom_headers_may_have_several_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, "", "sk-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "A: 1\nB: 2")
    assert server_address().key == "sk-1"
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1\n")
    with pytest.raises(OptionError, match="OPENAI_ORG_ID contains"):
        server_address()


def test_keys_in_custom_headers_are_masked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, "", "sk-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-gateway: gw-12345\nAuthorization: Bearer tok:en-678\nx-cached: true")
    said = "no gateway gw-12345, no token tok:en-678: is it true, Bearer of sk-1?"
    assert server_address().without_secrets(said) == "no gateway ***, no token ***: is it true, Bearer of ***?"
    assert "gw-12345" not in repr(server_address())


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://x.org/v1/", "https://x.org/v1"),
        ("https://me:pass@x.org:81/v1?token=abc#d", "https://x.org:81/v1"),
        ("http://a%40b:c@[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_public_address_hides_credentials(url: str, public: str) -> None:
    address = ServerAddress(url, "sk-1")
    assert address.public == public
    assert "pass" not in repr(address)
    assert "sk-1" not in repr(address)
