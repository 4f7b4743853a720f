"""The identity of a local model: a digest of its files, or the hub's commit."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
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


def test_identity_ignores_location_and_modification_time(folder: Path, tmp_path: Path) -> None:
    before = identity(folder)
    os.utime(folder / "weights", (1, 1))
    assert before == identity(folder) == identity(folder.rename(tmp_path / "moved"))
    assert len(before) == 16


@pytest.mark.parametrize("place", [0, 100_000, 299_999])
def test_identity_depends_on_every_byte_of_a_small_file(place: int, folder: Path) -> None:
    before = identity(folder)
    content = bytearray(300_000)
    content[place] = 1
    (folder / "weights").write_bytes(bytes(content))
    assert identity(folder) != before


@pytest.mark.parametrize("first", [0, 12_345_678, 19_980_000])
def test_identity_depends_on_each_layer_of_a_large_file(first: int, folder: Path) -> None:
    content = bytearray(20_000_000)
    (folder / "weights").write_bytes(content)
    before = identity(folder)
    content[first : first + 20_000] = b"1" * 20_000  # a thousandth of the file
    (folder / "weights").write_bytes(content)
    assert identity(folder) != before


def test_identity_depends_on_file_sizes_and_names(folder: Path) -> None:
    found = [identity(folder)]
    (folder / "weights").write_bytes(bytes(300_001))
    found.append(identity(folder))
    (folder / "weights").rename(folder / "other")
    found.append(identity(folder))
    assert len(set(found)) == 3


def test_identity_ignores_cached_answers_in_the_folder(folder: Path) -> None:
    before = identity(folder)
    with closing(sqlite3.connect(folder / "x.completions")) as database:
        database.execute("create table completions (key text)")
    (folder / "x.completions-journal").write_bytes(b"half a transaction")
    assert identity(folder) == before


def test_identity_follows_a_path_from_the_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert identity(Path("~/model")) == identity(folder) != ""


def test_identity_of_hub_model_is_its_commit_hash() -> None:
    assert model_identity("some/model", SimpleNamespace(_commit_hash="abc")) == "abc"
    assert model_identity("some/model", SimpleNamespace(_commit_hash=None)) == ""
