"""The stored number of pairs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from parlai_empathy.tasks.reddit import counts
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


def test_count_is_stored_and_reused(tmp_path: Path, files: list[Path]) -> None:
    count = Counter()
    assert [stored_count(tmp_path / "new" / "counts", files, {"a": 1}, count) for _ in range(3)] == [101] * 3
    assert count.asked == 1


def test_changed_settings_files_or_contents_are_recounted(tmp_path: Path, files: list[Path]) -> None:
    count = Counter()
    folder = tmp_path / "counts"
    assert stored_count(folder, files, {"a": 1}, count) == 101
    assert stored_count(folder, files, {"a": 2}, count) == 102
    assert stored_count(folder, files[:1], {"a": 1}, count) == 103
    files[0].write_text("{}\n")
    assert stored_count(folder, files, {"a": 1}, count) == 104
    os.utime(files[0], ns=(1, 1))
    assert stored_count(folder, files, {"a": 1}, count) == 105


def test_changed_reader_recounts(tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of the package may leave out other comments."""
    (code := tmp_path / "reddit").mkdir()
    (code / "reader.py").write_text("WORDS = 2\n")
    monkeypatch.setattr(counts, "_CODE", code)
    count = Counter()
    assert [stored_count(tmp_path / "counts", files, {}, count) for _ in range(2)] == [101, 101]
    (code / "reader.py").write_text("WORDS = 3\n")
    assert stored_count(tmp_path / "counts", files, {}, count) == 102


def test_modules_that_read_dumps_are_among_the_code() -> None:
    assert {"reader.py", "cleaning.py", "records.py"} <= {path.name for path in counts._CODE.glob("*.py")}


def test_count_of_incompletely_read_files_is_not_stored(tmp_path: Path, files: list[Path]) -> None:
    count = Counter(is_whole=False)
    assert [stored_count(tmp_path / "counts", files, {}, count) for _ in range(2)] == [101, 102]
    assert not (tmp_path / "counts").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"count": 5}', '{"about": 1, "count": 5}'])
def test_invalid_stored_count_is_recounted(tmp_path: Path, files: list[Path], content: str) -> None:
    count = Counter()
    stored_count(tmp_path / "counts", files, {}, count)
    (stored,) = (tmp_path / "counts").iterdir()
    stored.write_text(content)
    assert stored_count(tmp_path / "counts", files, {}, count) == 102
    assert json.loads(stored.read_text())["count"] == 102


def test_unwritable_folder_is_logged_without_an_error(
    tmp_path: Path, files: list[Path], log: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "counts").write_text("a file")
    assert stored_count(tmp_path / "counts", files, {}, Counter()) == 101
    assert "cannot be written" in log.text
