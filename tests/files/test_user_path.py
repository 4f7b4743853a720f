"""Tests of paths as users type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlai_empathy.files.user_path import user_path


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_path("~") == tmp_path
    assert user_path("~/models/m") == user_path(Path("~/models/m")) == tmp_path / "models" / "m"


def test_a_tilde_elsewhere_is_part_of_a_name() -> None:
    assert user_path("models/~/m") == Path("models/~/m")
    assert user_path("m~") == Path("m~")


def test_the_home_of_an_unknown_user_is_a_path_that_does_not_exist() -> None:
    path = user_path("~nobody-of-that-name/m")
    assert str(path) == "~nobody-of-that-name/m"
    assert not path.exists()
