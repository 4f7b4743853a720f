"""Reading RED in all supported formats."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.red.build import SAMPLE
from parlai_empathy.tasks.red.reader import read_red

OneLine = Callable[..., None]


def test_sample_counts_by_fold_label_and_source() -> None:
    posts = read_red(SAMPLE)
    real = [post for post in posts if post.source == "reaction"]
    assert Counter((post.fold, post.label) for post in real) == {
        ("train", "engaging"): 42,
        ("train", "not engaging"): 42,
        ("valid", "engaging"): 10,
        ("valid", "not engaging"): 10,
    }
    made = Counter(post.source for post in posts if post.source != "reaction")
    assert made == {"insertion": 4, "deletion": 4, "copy": 4, "generic": 4}
    assert all(post.label == "not engaging" for post in posts if post.source != "reaction")


def test_sample_engagement_is_the_weighted_mean_of_the_paper() -> None:
    # RE and AE have weight 3, EE 2 and BE 1, divided by their sum (Xu et al. 2022, appendix).
    for post in read_red(SAMPLE):
        if post.engagement is not None:
            d = post.dimensions
            assert post.engagement == pytest.approx((3 * d["re"] + 3 * d["ae"] + 2 * d["ee"] + d["be"]) / 9, abs=1e-4)


def test_red_parquet_takes_precedence_over_other_files_in_folder(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    json = pytest.importorskip("pyarrow.json")
    parquet = pytest.importorskip("pyarrow.parquet")
    assert pyarrow
    parquet.write_table(json.read_json(SAMPLE), tmp_path / "red.parquet")
    (tmp_path / "train.csv").write_text("not,read\n")
    assert read_red(tmp_path) == read_red(tmp_path / "red.parquet") == read_red(SAMPLE)


def test_folder_of_released_tables_is_read(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\nGoats!,1\nOk.,0\n")
    (tmp_path / "RED_dev.tsv").write_text("text\tlabel\nMore goats!\t1\n")
    (tmp_path / "notes.csv").write_text("of no fold\n")
    found = {(post.text, post.fold) for post in read_red(tmp_path)}
    assert found == {("Goats!", "train"), ("Ok.", "train"), ("More goats!", "valid")}


def test_folder_with_several_splits_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    for name in ("RED_dev.csv", "RED_train.csv", "RED_train_ns.csv"):
        (tmp_path / name).write_text("text,label\nI see.,1\n")
    with pytest.raises(DataError, match=r"RED_train.csv and RED_train_ns.csv are both of the fold train") as caught:
        read_red(tmp_path)
    assert_one_line(caught.value)


def test_folder_without_known_files_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    shutil.copy(SAMPLE, tmp_path / "red.jsonl")
    with pytest.raises(DataError) as caught:
        read_red(tmp_path)
    assert_one_line(caught.value, tmp_path, "red.parquet", "train.csv", "--red-file")


@pytest.mark.parametrize(("name", "content"), [("red.csv", "text,label\n"), ("red.jsonl", ""), ("red.csv", "")])
def test_empty_file_raises_data_error(tmp_path: Path, assert_one_line: OneLine, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        read_red(tmp_path / name)
    assert_one_line(caught.value, tmp_path / name, "no post")


def test_unreadable_path_raises_data_error(assert_one_line: OneLine) -> None:
    """A name that is too long stands for any reason, such as a folder of somebody else."""
    with pytest.raises(DataError) as caught:
        read_red(300 * "r")
    assert_one_line(caught.value, f"{300 * 'r'} cannot be read (File name too long)", "--red-file")


def test_unknown_extension_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    (tmp_path / "red.zip").write_text("")
    with pytest.raises(DataError) as caught:
        read_red(tmp_path / "red.zip")
    assert_one_line(caught.value, tmp_path / "red.zip", ".parquet", ".csv")
