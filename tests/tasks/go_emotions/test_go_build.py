"""Where the files of GoEmotions come from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError, OptionError
from parlai_empathy.tasks.builder import sha256_of_all
from parlai_empathy.tasks.go_emotions.build import SAMPLE, SOURCE, build

OneLine = Callable[..., None]


def opt(tmp_path: Path, edition: str = "full") -> Opt:
    return Opt({"datapath": str(tmp_path / "data"), "edition": edition})


def test_the_sample_is_in_the_package(tmp_path: Path) -> None:
    assert build(opt(tmp_path, "sample")) == SAMPLE
    assert all((SAMPLE / file).is_file() for file in SOURCE.files)


def test_a_mirror_holds_the_three_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SAMPLE, tmp_path / "mirror" / "goemotions")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    home = build(opt(tmp_path))
    assert (home / "dev.tsv").read_text(encoding="utf-8") == (SAMPLE / "dev.tsv").read_text(encoding="utf-8")


def test_a_mirror_that_lacks_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_one_line: OneLine
) -> None:
    (shutil.copytree(SAMPLE, tmp_path / "mirror" / "goemotions") / "test.tsv").unlink()
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(DownloadError) as caught:
        build(opt(tmp_path))
    assert_one_line(caught.value, "goemotions/test.tsv", "EMPATHY_MIRROR")


def test_an_edition_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--edition large: must be full or sample"):
        build(opt(tmp_path, "large"))


def test_the_checksum_is_that_of_the_real_files(real_data: Path) -> None:
    assert sha256_of_all(real_data / "goemotions", SOURCE.files) == SOURCE.sha256
