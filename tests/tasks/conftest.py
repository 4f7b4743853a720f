"""Fixtures of the task tests: mirrors and loaded teachers."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import teachers
from parlai.core.opt import Opt

from parlai_empathy.task_kit import builder


@pytest.fixture
def ed_mirror(mirror_of: Callable[[Path, str], Path], fixtures: Path) -> Path:
    """A mirror that holds the invented EmpatheticDialogues files; a test may change its copies."""
    return mirror_of(fixtures / "empathetic_dialogues", "empatheticdialogues").parent


@pytest.fixture
def load_teacher(tmp_path: Path) -> Callable[..., Any]:
    """A function that loads a teacher as :func:`teachers.load_teacher` does, with a data folder of the test's own."""
    return functools.partial(teachers.load_teacher, tmp_path / "data")


@pytest.fixture
def load(load_teacher: Callable[..., Any]) -> Callable[..., Any]:
    """A function that loads a teacher by fold, with its examples in order."""
    datatypes = {"train": "train:ordered", "valid": "valid", "test": "test"}
    return lambda task, fold="train", **options: load_teacher(task, **{"datatype": datatypes[fold], **options})


@pytest.fixture
def opt(tmp_path: Path) -> Opt:
    """Options that name a data folder which does not exist yet."""
    return Opt({"datapath": str(tmp_path / "data"), "edition": "full"})


@pytest.fixture
def mirror_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], Path]:
    """A function that puts a copy of a folder on a mirror, under the name given; a test may change the copy."""

    def copied(source: Path, folder: str) -> Path:
        monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
        return Path(shutil.copytree(source, tmp_path / "mirror" / folder))

    return copied


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requested addresses; nothing uses the network, and every address returns the same bytes."""
    addresses = []

    def answer(url: str, target: Path) -> None:
        addresses.append(url)
        target.write_bytes(b"what came")

    monkeypatch.setattr(builder, "_download_once", answer)
    return addresses
