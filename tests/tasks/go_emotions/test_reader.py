"""Reading GoEmotions: valid rows, and the errors of invalid ones."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.go_emotions.build import SAMPLE
from parlai_empathy.tasks.go_emotions.emotions import EMOTIONS
from parlai_empathy.tasks.go_emotions.reader import FILES, Comment, read_go_emotions

OneLine = Callable[..., None]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "goemotions"))


def write(copy: Path, rows: str) -> Path:
    path = copy / "dev.tsv"
    path.write_bytes(rows.encode("utf-8"))
    return path


def test_rows_are_read_as_comments(copy: Path) -> None:
    write(copy, "So glad for you! \t17\ta1\nThanks, I laughed.\t1,15\ta2\n")
    assert list(read_go_emotions(copy, "valid")) == [
        Comment("a1", "So glad for you!", ("joy",)),
        Comment("a2", "Thanks, I laughed.", ("amusement", "gratitude")),
    ]


def test_doubled_quotation_marks_are_unescaped(copy: Path) -> None:
    write(copy, '"She said ""no"" twice."\t27\ta1\n')
    (found,) = read_go_emotions(copy, "valid")
    assert found.text == 'She said "no" twice.'


@pytest.mark.parametrize(("fold", "size", "double"), [("train", 130, 18), ("valid", 31, 3), ("test", 31, 3)])
def test_sample_has_all_emotions_in_each_fold(fold: str, size: int, double: int) -> None:
    comments = list(read_go_emotions(SAMPLE, fold))
    assert {emotion for comment in comments for emotion in comment.emotions} == set(EMOTIONS)
    assert (len(comments), sum(len(comment.emotions) > 1 for comment in comments)) == (size, double)


def test_sample_texts_are_unique() -> None:
    texts = Counter(comment.text for fold in FILES for comment in read_go_emotions(SAMPLE, fold))
    assert max(texts.values()) == 1


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("only a text", ["1 field(s)", "text, emotions, id"]),
        ("a\tb\tc\td", ["4 field(s)"]),
        ("fine\t28\ta1", ["column emotions", "'28'"]),
        ("fine\t-1\ta1", ["column emotions", "'-1'"]),
        ("fine\t\ta1", ["column emotions", "''"]),
        ("fine\t1,1\ta1", ["column emotions", "twice"]),
        ("fine\t1, 2\ta1", ["column emotions", "' 2'"]),
        ("  \t27\ta1", ["column text", "empty"]),
    ],
)
def test_invalid_row_error_names_the_line(copy: Path, assert_one_line: OneLine, row: str, parts: list[str]) -> None:
    path = write(copy, f"Good.\t27\ta0\n{row}\nFine.\t27\ta2\n")
    with pytest.raises(DataError) as caught:
        list(read_go_emotions(copy, "valid"))
    assert_one_line(caught.value, path, "line 2", *parts)


def test_unclosed_quotation_error_names_the_preceding_line(copy: Path, assert_one_line: OneLine) -> None:
    path = write(copy, 'Good.\t27\ta0\n"no end\t27\ta1\n')
    with pytest.raises(DataError) as caught:
        list(read_go_emotions(copy, "valid"))
    assert_one_line(caught.value, path, "after line 1")


def test_rows_joined_by_a_quotation_mark_are_not_one_comment(copy: Path, assert_one_line: OneLine) -> None:
    """As in a copy that was written without quotation marks round texts: the one of 10" ends the first text."""
    path = write(copy, 'Good.\t27\ta0\n"no end\t2\ta1\nIt is 10"\t27\ta2\nFine.\t27\ta3\n')
    with pytest.raises(DataError) as caught:
        list(read_go_emotions(copy, "valid"))
    assert_one_line(caught.value, f"{path}, line 2, column text", "no end", "quotation mark")


def test_missing_file_error_names_the_file(copy: Path, assert_one_line: OneLine) -> None:
    (copy / "test.tsv").unlink()
    with pytest.raises(DataError) as caught:
        list(read_go_emotions(copy, "test"))
    assert_one_line(caught.value, copy / "test.tsv", "cannot be read")


def test_non_utf_8_error_names_the_file(copy: Path, assert_one_line: OneLine) -> None:
    (copy / "test.tsv").write_bytes(b"fine\t27\ta0\ncaf\xe9\t27\ta1\n")
    with pytest.raises(DataError) as caught:
        list(read_go_emotions(copy, "test"))
    assert_one_line(caught.value, copy / "test.tsv", "UTF-8")


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1).filter(str.strip),
            st.lists(st.sampled_from(range(28)), min_size=1, max_size=4, unique=True),
        )
    )
)
def test_written_rows_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, comments: list[tuple[str, list[int]]]
) -> None:
    folder = tmp_path_factory.mktemp("goemotions")
    with (folder / "train.tsv").open("w", encoding="utf-8", newline="") as file:
        rows = [(text, ",".join(map(str, emotions)), "id") for text, emotions in comments]
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(rows)
    found = [(comment.text, comment.emotions) for comment in read_go_emotions(folder, "train")]
    assert found == [(text.strip(), tuple(EMOTIONS[number] for number in emotions)) for text, emotions in comments]


def test_counts_of_the_real_data(real_data: Path) -> None:
    comments = {fold: list(read_go_emotions(real_data / "goemotions", fold)) for fold in FILES}
    assert {fold: len(found) for fold, found in comments.items()} == {"train": 43_410, "valid": 5_426, "test": 5_427}
    # Counted in the files with awk: rows whose second field has one number, two, three, ...
    numbers = Counter(len(comment.emotions) for comment in comments["train"])
    assert numbers == {1: 36_308, 2: 6_541, 3: 532, 4: 28, 5: 1}
    assert sum('"' in comment.text for comment in comments["test"]) == 149
