"""Reading RED as its authors release it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.red.build import SAMPLE
from parlai_empathy.tasks.red.records import RedPost
from parlai_empathy.tasks.red.released import fold_in_name, read_tables

OneLine = Callable[..., None]


def write(tmp_path: Path, content: str, name: str = "80k.csv") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,label\nGoats!,1\nOk.,0\n"),
        ("a.csv", ",sentence,label\n0,Goats!,1.0\n1,Ok.,0.0\n"),
        ("a.tsv", "label\tpost\nengaging\tGoats!\nnot engaging\tOk.\n"),
        ("a.jsonl", '{"text": "Goats!", "label": 1}\n{"text": "Ok.", "label": 0}\n'),
    ],
)
def test_supported_layouts(tmp_path: Path, name: str, content: str) -> None:
    assert list(read_tables(write(tmp_path, content, name), "train")) == [
        RedPost("Goats!", "", "engaging", "train"),
        RedPost("Ok.", "", "not engaging", "train"),
    ]


def test_parent_and_fold_columns_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, "text,parent,label,split\nGoats!,What now?,1,Validation\nOk.,,0,test\n")
    found = list(read_tables(path))
    assert [(post.parent, post.fold) for post in found] == [("What now?", "valid"), ("", "test")]


def test_released_table_may_have_other_columns_of_ours(tmp_path: Path) -> None:
    path = write(tmp_path, "text,label,source,subreddit,engagement\nGoats!,1,reddit,goats,3\n")
    assert list(read_tables(path, "train")) == [RedPost("Goats!", "", "engaging", "train")]


def test_curated_row_without_its_nulls_is_not_taken_for_a_released_one(tmp_path: Path) -> None:
    """A negative sample has no scores; read as released, it would become a reaction."""
    row = {"post": "p", "parent": "q", "label": "not engaging", "fold": "train", "subreddit": "s", "source": "copy"}
    (path := tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match="line 1: the column ee_norm is missing"):
        list(read_tables(path))


def test_curated_rows_keep_their_source() -> None:
    assert sum(post.source == "reaction" for post in read_tables(SAMPLE)) == 104


def test_split_by_text_never_changes(tmp_path: Path) -> None:
    """``printf 'red 1\\npost 28' | sha256sum``: the first 16 digits, as a number modulo 100, are 19; below 20 is valid.

    Those of the others are 0, 20 and 99.
    """
    path = write(tmp_path, "text,label\n" + "".join(f"post {number},1\n" for number in (51, 28, 20, 255)))
    assert [post.fold for post in read_tables(path)] == ["valid", "valid", "train", "train"]


@given(st.lists(st.integers(), min_size=200, max_size=200, unique=True))
def test_posts_without_a_fold_are_split_by_their_text(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int]
) -> None:
    path = write(tmp_path_factory.mktemp("red"), "text,label\n" + "".join(f"{number},1\n" for number in numbers))
    folds = {post.text: post.fold for post in read_tables(path)}
    assert 10 < sum(fold == "valid" for fold in folds.values()) < 80  # 40 are expected, standard deviation 5.7
    other = write(path.parent, "text,label\n" + "".join(f"{number},0\n" for number in reversed(numbers)), "b.csv")
    assert {post.text: post.fold for post in read_tables(other)} == folds  # the fold depends on the text alone


@pytest.mark.parametrize(
    ("name", "fold"),
    [
        ("train.csv", "train"),
        ("RED_80k-ns_train.tsv", "train"),
        ("Dev.jsonl", "valid"),
        ("red.val.csv", "valid"),
        ("test.csv", "test"),
        ("80k_ns.csv", None),
        ("constrained.csv", None),
    ],
)
def test_fold_in_name(name: str, fold: str | None) -> None:
    assert fold_in_name(Path(name)) == fold


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("body,label\nGoats!,1\n", ["line 2", "text or post or sentence", "body, label"]),
        ("text,class\nGoats!,1\n", ["line 2", "label", "text, class"]),
        ("text,label\nGoats!,2\n", ["line 2", "column label", "'2'"]),
        ("text,label\n ,1\n", ["line 2", "column text", "empty"]),
        ("text,label,fold\nGoats!,1,later\n", ["line 2", "column fold", "'later'"]),
        ("text,label\nGoats!\n", ["line 2", "1 field(s)"]),
    ],
)
def test_invalid_table_error_names_the_line(
    tmp_path: Path, assert_one_line: OneLine, content: str, parts: list[str]
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        list(read_tables(path))
    assert_one_line(caught.value, path, *parts)
