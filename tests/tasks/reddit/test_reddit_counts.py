"""The stored number of pairs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from parlai_empathy.tasks.reddit.counts import stored_count


class Counter:
    """Records how often it is called."""

    def __init__(self, is_whole: bool = True) -> None:
        self.asked = 0
        self.is_whole = is_whole

    def __call__(self) -> tuple[int, bool]:
        self.asked += 1
        return 100 + self.asked, self.is_whole


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two dumps."""
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        path.write_text("{}")
    return paths


def test_it_is_counted_once(tmp_path: Path, files: list[Path]) -> None:
    count = Counter()
    assert [stored_count(tmp_path / "new" / "counts", files, {"a": 1}, count) for _ in range(3)] == [101] * 3
    assert count.asked == 1


def test_other_settings_files_or_contents_are_counted_anew(tmp_path: Path, files: list[Path]) -> None:
    count = Counter()
    folder = tmp_path / "counts"
    assert stored_count(folder, files, {"a": 1}, count) == 101
    assert stored_count(folder, files, {"a": 2}, count) == 102
    assert stored_count(folder, files[:1], {"a": 1}, count) == 103
    files[0].write_text("{}\n")
    assert stored_count(folder, files, {"a": 1}, count) == 104
    os.utime(files[0], ns=(1, 1))
    assert stored_count(folder, files, {"a": 1}, count) == 105


def test_the_number_of_a_broken_file_is_not_kept(tmp_path: Path, files: list[Path]) -> None:
    count = Counter(is_whole=False)
    assert [stored_count(tmp_path / "counts", files, {}, count) for _ in range(2)] == [101, 102]
    assert not (tmp_path / "counts").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"count": 5}', '{"about": 1, "count": 5}'])
def test_a_broken_file_is_counted_anew(tmp_path: Path, files: list[Path], content: str) -> None:
    count = Counter()
    stored_count(tmp_path / "counts", files, {}, count)
    (stored,) = (tmp_path / "counts").iterdir()
    stored.write_text(content)
    assert stored_count(tmp_path / "counts", files, {}, count) == 102
    assert json.loads(stored.read_text())["count"] == 102


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, files: list[Path], log: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "counts").write_text("a file")
    assert stored_count(tmp_path / "counts", files, {}, Counter()) == 101
    assert "cannot be written" in log.text
