"""Files with and without names for tables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.scripts.parts.named_files import by_name, split_name


@pytest.mark.parametrize(
    ("text", "name", "file"),
    [
        ("mine=a/b.jsonl", "mine", "a/b.jsonl"),
        ("mine=a/b=c", "mine", "a/b=c"),
        ("some/where/a/model", "a/model", "some/where/a/model"),
        ("model", "model", "model"),
        ("=some/where/a/model", "a/model", "some/where/a/model"),
        ("a name=x", "a name", "x"),
    ],
)
def test_name_precedes_first_equals_sign_or_is_derived_from_path(text: str, name: str, file: str) -> None:
    assert split_name(text) == (name, file)


def test_existing_file_with_equals_sign_is_not_split(tmp_path: Path) -> None:
    file = tmp_path / "lr=0.1.jsonl"
    assert split_name(str(file)) == (f"{tmp_path}/lr", "0.1.jsonl"), "nothing is there"
    file.touch()
    assert split_name(str(file)) == (f"{tmp_path.name}/lr=0.1.jsonl", str(file))
    assert split_name(f"slow={file}") == ("slow", str(file))


def test_undecodable_bytes_in_names_become_question_marks(tmp_path: Path) -> None:
    """The bytes of a file name may be invalid UTF-8, but a table's text may not."""
    file = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
    assert split_name(file) == (f"{tmp_path.name}/?.jsonl", file)
    assert split_name(os.fsdecode(b"\xe9=") + file) == ("?", file)


def test_long_list_of_files_is_accepted() -> None:
    files = ",".join(f"model/seed{number}" for number in range(1000))
    assert split_name(f"many={files}") == ("many", files)


def test_by_name_keeps_order() -> None:
    assert list(by_name("--logs", ["b=x", "a=y", "c/d"]).items()) == [("b", "x"), ("a", "y"), ("c/d", "c/d")]
    assert by_name("--logs", []) == {}


@pytest.mark.parametrize("text", ["", "x=", "="])
def test_name_without_file_raises_option_error(text: str) -> None:
    with pytest.raises(OptionError) as error:
        by_name("--logs", ["a=b", text])
    assert str(error.value) == f"--logs {text}: names no file: write NAME=FILE"


@pytest.mark.parametrize(
    ("named", "taken", "name"),
    [(["x=a", "x=b"], [], "x"), (["a/x", "b/a/x"], [], "a/x"), (["a/x", "a/x"], [], "a/x"), (["x=a"], ["x"], "x")],
)
def test_duplicate_name_raises_option_error(named: list[str], taken: list[str], name: str) -> None:
    with pytest.raises(OptionError) as error:
        by_name("--logs", named, taken)
    assert str(error.value) == f"--logs: {name} is used twice: write NAME=FILE to tell them apart"
