"""Where the dumps are: files or folders that an option names, the data folder, a mirror, or the sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.reddit.build import SAMPLE, build

OneLine = Callable[..., None]


@pytest.fixture
def opt(tmp_path: Path) -> dict[str, Any]:
    """Options that name a data folder which does not exist yet."""
    return {"datapath": str(tmp_path / "data"), "edition": "full", "reddit_file": None}


def fill(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("")
    return folder


def names(files: list[Path]) -> list[str]:
    return [file.name for file in files]


def test_folder_yields_only_its_dumps(tmp_path: Path, opt: dict[str, Any]) -> None:
    folder = fill(
        tmp_path / "dumps",
        "RC_2006-02.bz2",
        "RC_2006-03.gz",
        "RC_2005-12.zst",
        "RS_2006-01",
        "x.jsonl",
        "README.md",
        "sums.txt",
        ".x",
    )
    (folder / "more.zst").mkdir()
    found = build({**opt, "reddit_file": str(folder)})
    assert names(found) == ["RC_2005-12.zst", "RC_2006-02.bz2", "RC_2006-03.gz", "RS_2006-01", "x.jsonl"]


def test_reddit_file_accepts_several_files_and_folders(tmp_path: Path, opt: dict[str, Any]) -> None:
    folder = fill(tmp_path / "dumps", "b.jsonl", "a.jsonl")
    (single := tmp_path / "anything").write_text("")  # a file that is named is read, whatever its extension
    assert names(build({**opt, "reddit_file": f"{single}, {folder},"})) == ["anything", "a.jsonl", "b.jsonl"]


def test_reddit_file_may_be_a_number(tmp_path: Path, opt: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As ParlAI reads it in ``-t empathy:reddit:reddit_file=2006``."""
    fill(tmp_path / "2006", "a.jsonl")
    monkeypatch.chdir(tmp_path)
    assert build({**opt, "reddit_file": 2006}) == [Path("2006/a.jsonl")]


def test_reddit_file_takes_precedence_over_edition(
    tmp_path: Path, opt: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "home", "a.jsonl")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert names(build({**opt, "edition": "sample", "reddit_file": "~/a.jsonl"})) == ["a.jsonl"]


def test_data_folder_takes_precedence_over_mirror(
    tmp_path: Path, opt: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    mirrored = fill(tmp_path / "mirror" / "reddit", "a.jsonl")
    assert build(opt) == [mirrored / "a.jsonl"]  # read in place: nothing is copied
    own = fill(tmp_path / "data" / "reddit", "b.jsonl")
    assert build(opt) == [own / "b.jsonl"]


@pytest.mark.parametrize("mirror", ["", "http://127.0.0.1:9", "/nowhere"])
def test_no_dumps_found_raises_data_error(
    opt: dict[str, Any], monkeypatch: pytest.MonkeyPatch, mirror: str, assert_one_line: OneLine
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", mirror)
    with pytest.raises(DataError) as caught:
        build(opt)
    assert_one_line(caught.value, "--reddit-file", Path(opt["datapath"]) / "reddit")


def test_missing_reddit_file_raises_data_error(tmp_path: Path, opt: dict[str, Any], assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        build({**opt, "reddit_file": str(tmp_path / "RC_2005-12.zst")})
    assert_one_line(caught.value, tmp_path / "RC_2005-12.zst", "does not exist")


def test_unreadable_reddit_file_raises_data_error(opt: dict[str, Any], assert_one_line: OneLine) -> None:
    """A name that is too long stands for any reason, such as a folder of somebody else."""
    with pytest.raises(DataError) as caught:
        build({**opt, "reddit_file": 300 * "r"})
    assert_one_line(caught.value, f"{300 * 'r'} cannot be read (File name too long)", "--reddit-file")


def test_data_folder_without_access_holds_no_dumps(opt: dict[str, Any], assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        build({**opt, "datapath": 300 * "d"})
    assert_one_line(caught.value, "--reddit-file", Path(300 * "d") / "reddit")


def test_reddit_file_without_a_name_raises_data_error(opt: dict[str, Any], assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        build({**opt, "reddit_file": " , "})
    assert_one_line(caught.value, "--reddit-file", "names no dump")


def test_folder_without_dumps_raises_data_error(tmp_path: Path, opt: dict[str, Any], assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        build({**opt, "reddit_file": str(fill(tmp_path / "dumps", "README.md"))})
    assert_one_line(caught.value, tmp_path / "dumps", "holds no dump")


def test_unknown_edition_raises_option_error(opt: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="--edition smaple"):
        build({**opt, "edition": "smaple"})


# --- the sample ------------------------------------------------------------------------------------------------------


def test_sample_covers_old_and_new_schema(opt: dict[str, Any]) -> None:
    files = build({**opt, "edition": "sample"})
    assert names(files) == ["sample_2010.jsonl", "sample_2023.jsonl"]
    assert {file.parent for file in files} == {SAMPLE}
    older, newer = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    assert {type(record["created_utc"]) for record in older} == {int, str}
    assert {type(record["created_utc"]) for record in newer} == {float}
    assert not any("name" in record for record in older if "body" in record)
    assert all("name" in record for record in newer)


def test_sample_is_printable_ascii() -> None:
    for file in SAMPLE.iterdir():
        assert set(file.read_bytes()) <= {*range(0x20, 0x7F), ord("\n")}
