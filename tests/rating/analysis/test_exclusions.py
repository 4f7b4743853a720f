"""The file of excluded raters, and its errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.rating.analysis.exclusions import (
    excluded_in_study,
    included,
    read_exclusions,
    without,
    write_exclusions,
)
from parlai_empathy.rating.rating import Rating


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "out.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_exclusions_file_is_read(tmp_path: Path) -> None:
    content = '\ufeffreason,note, rater\r\n"too fast, twice",x, w1\r\n\r\nasked to be,,w2\r\n'
    assert read_exclusions(write(tmp_path, content)) == {"w1": "too fast, twice", "w2": "asked to be"}
    assert read_exclusions(write(tmp_path, "rater,reason\n")) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is empty: its first line should name rater and reason"),
        ("rater\nw1\n", ", line 1: the header should name reason once: it should be rater and reason"),
        ("w1,fast\n", ", line 1: the header should name rater and reason once: it should be rater and reason"),
        ("rater,rater,reason\n", ", line 1: the header should name rater once: it should be rater and reason"),
        (
            "rater,reason\nw1,\n",
            ", line 2, column reason: no value: each line needs a rater and a reason",
        ),
        ("rater,reason\nw1\n", ", line 2, column reason: no value: each line needs a rater and a reason"),
        ("rater,reason\n,fast\n", ", line 2, column rater: no value: each line needs a rater and a reason"),
        ("rater,reason\nw1,a\nw1,b\n", ", line 3, column rater: 'w1' occurs twice: keep one line"),
        ('rater,reason\n"w1,a\n', ", line 2: not CSV (unexpected end of data): check its quotes"),
        (b"rater,reason\nw\xff,a\n", ", line 2: b'\\xff' is not UTF-8: save the file as UTF-8"),
    ],
)
def test_malformed_file_raises_data_error(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}{message}')}$"):
        read_exclusions(path)


def test_missing_file_or_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be read \(No such file or directory\): it should be CSV with rater"):
        read_exclusions(tmp_path / "none.csv")
    with pytest.raises(OptionError, match=r"cannot be written \(No such file or directory\): name another folder$"):
        write_exclusions(tmp_path / "none" / "out.csv", {})


names = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1).map(str.strip).filter(bool)


@given(st.dictionaries(names, names, max_size=5))
def test_exclusions_round_trip(tmp_path_factory: pytest.TempPathFactory, reasons: dict[str, str]) -> None:
    path = tmp_path_factory.mktemp("exclusions") / "out.csv"
    write_exclusions(path, reasons)
    assert read_exclusions(path) == reasons


def test_full_disk_keeps_previous_file(tmp_path: Path) -> None:
    write_exclusions(path := tmp_path / "out.csv", {"ann": "too quick"})
    with full_disk(), pytest.raises(OptionError, match="cannot be written"):
        write_exclusions(path, {"bob": "always the same answer", "cid": "not English"})
    assert read_exclusions(path) == {"ann": "too quick"}
    assert list(tmp_path.iterdir()) == [path]


def test_included_drops_all_ratings_of_raters_whom_the_study_excluded() -> None:
    ratings = [
        Rating("1", "w1", "", 3.0, excluded="fast"),
        Rating("2", "w1", "", 3.0),  # from another file, say: the rater is excluded all the same
        Rating("1", "w2", "", 4.0),
    ]
    assert excluded_in_study(ratings) == {"w1": "fast"}
    assert included(ratings) == ratings[2:]


def test_without_drops_ratings_of_excluded_raters() -> None:
    ratings = [Rating("1", "w1", "", 3.0), Rating("1", "w2", "", 4.0)]
    assert without(ratings, {"w1": "fast"}) == ratings[1:]
    assert without(ratings, {}) == ratings
