"""Reading JSON files that contain one list of objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.json_files import read_objects, text_of

OneLine = Callable[..., None]


def test_read_objects(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('[{"a": "é"}, {}]', encoding="utf-8")
    assert read_objects(path) == [{"a": "é"}, {}]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ["not JSON"]),
        (b'[{"a": 1}', ["not JSON"]),
        (b'["caf\xe9"]', ["not JSON"]),
        (b"<html>\n</html>", ["not JSON"]),
        (b"[" * 100_000, ["not JSON"]),
        (b'{"a": 1}', ["a list of objects"]),
        (b'[{"a": 1}, 3]', ["entry 1", "not an object"]),
    ],
)
def test_invalid_file_raises_data_error(
    tmp_path: Path, assert_one_line: OneLine, content: bytes, parts: list[str]
) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_objects(path)
    assert_one_line(caught.value, path, *parts)


def test_missing_file_error_names_the_file(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        read_objects(tmp_path / "none.json")
    assert_one_line(caught.value, tmp_path / "none.json", "cannot be read")


def test_missing_field_raises_data_error() -> None:
    assert text_of({"a": ""}, "a", "here") == ""
    with pytest.raises(DataError, match=r"^here: its field b is None"):
        text_of({"a": ""}, "b", "here")


def test_lone_surrogate_raises_data_error(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('[{"a": "\\ude00"}]', encoding="utf-8")
    with pytest.raises(
        DataError, match=r"^here, its field a: .* contains half a character \(a lone surrogate\): write it whole$"
    ):
        text_of(read_objects(path)[0], "a", "here")
