"""Where RED's file is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.red.build import SAMPLE, build

OneLine = Callable[..., None]


def test_sample_is_in_the_package(tmp_path: Path) -> None:
    assert build({"datapath": str(tmp_path), "edition": "sample"}) == SAMPLE
    assert SAMPLE.is_file()


def test_red_file_takes_precedence_over_edition(tmp_path: Path) -> None:
    assert build({"datapath": "x", "edition": "sample", "red_file": str(tmp_path)}) == tmp_path


def test_curated_file_in_the_data_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "red").mkdir()
    (tmp_path / "red" / "red.parquet").write_bytes(b"")
    assert build({"datapath": str(tmp_path), "red_file": None}) == tmp_path / "red" / "red.parquet"


def test_missing_data_error_explains_how_to_get_the_data(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DownloadError) as caught:
        build({"datapath": str(tmp_path)})
    assert_one_line(caught.value, tmp_path / "red" / "red.parquet", "parlai curate_red", "--red-file", "EnDex")


def test_missing_red_file_raises_download_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DownloadError) as caught:
        build({"datapath": str(tmp_path), "red_file": str(tmp_path / "none.parquet")})
    assert_one_line(caught.value, "--red-file", tmp_path / "none.parquet")


@pytest.mark.parametrize("option", ["datapath", "red_file"])
def test_unreadable_path_raises_download_error(option: str, assert_one_line: OneLine) -> None:
    """A name that is too long stands for any reason, such as a folder of somebody else."""
    with pytest.raises(DownloadError) as caught:
        build({"datapath": "x", option: 300 * "r"})
    assert_one_line(caught.value, f"{300 * 'r'}", "cannot be read (File name too long)", "--red-file")
