"""Where the files of EmpatheticIntents come from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError, OptionError
from parlai_empathy.tasks.builder import sha256_of_all
from parlai_empathy.tasks.empathetic_intents.build import SAMPLE, SOURCE, build

OneLine = Callable[..., None]


def opt(tmp_path: Path, edition: str = "full") -> Opt:
    return Opt({"datapath": str(tmp_path / "data"), "edition": edition})


def test_the_sample_is_in_the_package(tmp_path: Path) -> None:
    assert build(opt(tmp_path, "sample")) == SAMPLE
    assert all((SAMPLE / file).is_file() for file in SOURCE.files)


def test_a_mirror_holds_the_files_in_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SAMPLE, tmp_path / "mirror" / "empathetic_intents")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    home = build(opt(tmp_path))
    assert {str(path.relative_to(home)) for path in home.rglob("*.txt")} == set(SOURCE.files)
    assert (home / "test/wishing.txt").read_text() == (SAMPLE / "test/wishing.txt").read_text()


def test_a_mirror_that_lacks_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    mirror = shutil.copytree(SAMPLE, tmp_path / "mirror" / "empathetic_intents")
    (mirror / "validation" / "neutral.txt").unlink()
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(DownloadError) as caught:
        build(opt(tmp_path))
    assert_one_line(caught.value, "validation/neutral.txt", "EMPATHY_MIRROR")


def test_an_edition_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--edition large: must be full or sample"):
        build(opt(tmp_path, "large"))


def test_the_checksum_is_that_of_the_real_files(real_data: Path) -> None:
    assert sha256_of_all(real_data / "empathetic_intents", SOURCE.files) == SOURCE.sha256
