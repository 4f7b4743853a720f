"""The secret that signs cookies: from the environment, or from a file that only its owner can read."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.rating.web.secret import site_secret

LONG = "0123456789abcdef0123456789abcdef"


def test_secret_is_created_once_and_readable_only_by_owner(tmp_path: Path) -> None:
    store = str(tmp_path / "ratings.db")
    first = site_secret(store, {})
    assert len(first) == 64
    assert site_secret(store, {}) == first
    path = tmp_path / "ratings.db.secret"
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["ratings.db.secret"]
    assert site_secret(str(tmp_path / "other.db"), {}) != first


def test_concurrent_starts_share_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: site_secret(str(tmp_path / "ratings.db"), {}), range(32)))
    assert len(found) == 1


def test_secret_from_environment_takes_precedence(tmp_path: Path) -> None:
    assert site_secret(str(tmp_path / "ratings.db"), {"EMPATHY_SITE_SECRET": LONG}) == LONG.encode()
    assert list(tmp_path.iterdir()) == []
    assert site_secret("postgresql://herons@pond/ratings", {"EMPATHY_SITE_SECRET": LONG}) == LONG.encode()


def test_secret_from_environment_may_be_any_bytes(tmp_path: Path) -> None:
    secret = bytes(range(200, 240))  # no text in UTF-8
    assert site_secret(str(tmp_path / "ratings.db"), {"EMPATHY_SITE_SECRET": os.fsdecode(secret)}) == secret


def test_unusable_secret_raises_option_error(tmp_path: Path) -> None:
    store = tmp_path / "ratings.db"
    with pytest.raises(OptionError, match="EMPATHY_SITE_SECRET has 5 characters: expected at least 32"):
        site_secret(str(store), {"EMPATHY_SITE_SECRET": "heron"})
    with pytest.raises(OptionError, match="EMPATHY_SITE_SECRET is not set") as caught:
        site_secret("postgresql://herons:hush@pond/ratings", {})
    assert "hush" not in str(caught.value)
    secret = tmp_path / "ratings.db.secret"
    secret.write_text(LONG)
    secret.chmod(0o644)
    with pytest.raises(OptionError, match="can be read by others: chmod 600"):
        site_secret(str(store), {})
    secret.chmod(0o600)
    secret.write_text("x")
    with pytest.raises(OptionError, match="has 1 bytes: expected at least 32; delete it"):
        site_secret(str(store), {})
    (tmp_path / "folder.db.secret").mkdir(mode=0o700)
    with pytest.raises(OptionError, match=r"folder\.db\.secret cannot be used"):
        site_secret(str(tmp_path / "folder.db"), {})
    with pytest.raises(OptionError, match=r"--store .*ratings\.db: expected a file in an existing folder"):
        site_secret(str(tmp_path / "nowhere" / "ratings.db"), {})
