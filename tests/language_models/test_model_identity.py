"""The identity of a local model: a digest of its files, or the hub's commit."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from parlai_empathy.language_models.model_identity import model_identity

NO_CONFIG = SimpleNamespace()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "weights").write_bytes(bytes(300_000))
    return tmp_path / "model"


def identity(folder: Path) -> str:
    return model_identity(str(folder), NO_CONFIG)


def test_a_folder_is_its_content_wherever_and_whenever(folder: Path, tmp_path: Path) -> None:
    before = identity(folder)
    os.utime(folder / "weights", (1, 1))
    assert before == identity(folder) == identity(folder.rename(tmp_path / "moved"))
    assert len(before) == 16


@pytest.mark.parametrize("place", [0, 299_999])
def test_another_byte_at_either_end_is_another_model(place: int, folder: Path) -> None:
    before = identity(folder)
    content = bytearray(300_000)
    content[place] = 1
    (folder / "weights").write_bytes(bytes(content))
    assert identity(folder) != before


def test_another_size_or_name_is_another_model(folder: Path) -> None:
    found = [identity(folder)]
    (folder / "weights").write_bytes(bytes(300_001))
    found.append(identity(folder))
    (folder / "weights").rename(folder / "other")
    found.append(identity(folder))
    assert len(set(found)) == 3


def test_a_model_of_the_hub_has_a_version() -> None:
    assert model_identity("some/model", SimpleNamespace(_commit_hash="abc")) == "abc"
    assert model_identity("some/model", SimpleNamespace(_commit_hash=None)) == ""
