"""What the tests of tasks share: no mirror but the test's own, and how an error has to look."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a mirror or a proxy: neither shall answer here."""
    monkeypatch.delenv("EMPATHY_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def assert_one_line() -> Callable[..., None]:
    """A check that an error's message is one line and that it names each of the given parts."""

    def check(error: BaseException, *parts: object) -> None:
        message = str(error)
        assert len(message.splitlines()) == 1, message
        for part in parts:
            assert str(part) in message, f"{part!r} is not in {message!r}"

    return check


@pytest.fixture
def ed_mirror(tmp_path: Path, fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror that holds the invented EmpatheticDialogues files; a test may change its copies."""
    mirror = tmp_path / "mirror"
    shutil.copytree(fixtures / "empathetic_dialogues", mirror / "empatheticdialogues")
    monkeypatch.setenv("EMPATHY_MIRROR", str(mirror))
    return mirror
