"""The teachers, as ParlAI itself loads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.red.build import SAMPLE
from parlai_empathy.tasks.red.dimensions import labelled_by
from parlai_empathy.tasks.red.reader import read_red

Load = Callable[..., Any]

TASK = "empathy:red"
CLASSES = ["not engaging", "engaging"]


@pytest.mark.parametrize(
    ("teacher", "datatype", "size"),
    [
        ("", "train:ordered", 84),
        ("", "valid", 20),
        ("", "test", 20),
        (":NegativeSamples", "train:ordered", 97),
        (":NegativeSamples", "valid", 23),
        (":Test", "test", 12),
        (":Test", "valid", 12),
    ],
)
def test_sample_sizes_and_candidates(load_teacher: Load, teacher: str, datatype: str, size: int) -> None:
    found = examples_of(load_teacher(TASK + teacher, datatype, edition="sample"))
    assert len(found) == size
    assert all(example["label_candidates"] == CLASSES for example in found)


def test_message_fields(load_teacher: Load) -> None:
    assert examples_of(load_teacher(TASK, edition="sample"))[1] == {
        "id": TASK,
        "text": "My bread always comes out flat and grey.\nBuy bread.",
        "labels": ["not engaging"],
        "label_candidates": CLASSES,
        "source": "reaction",
        "subreddit": "cooking",
        "engagement": read_red(SAMPLE)[1].engagement,
        "fold": "train",
        "episode_done": True,
    }


@pytest.mark.parametrize("teacher", ["", ":NegativeSamples", ":EE", ":Test"])
def test_red_context_false_leaves_only_the_post(load_teacher: Load, teacher: str) -> None:
    whole = examples_of(load_teacher(TASK + teacher, edition="sample"))
    alone = examples_of(load_teacher(TASK + teacher, edition="sample", red_context=False))
    assert [example["text"].split("\n")[-1] for example in whole] == [example["text"] for example in alone]
    assert all(example["text"].count("\n") == 1 for example in whole)


def test_red_context_in_the_task_name(load_teacher: Load) -> None:
    found = examples_of(load_teacher(f"{TASK}:red_context=false:edition=sample"))
    assert not any("\n" in example["text"] for example in found)
    with pytest.raises(OptionError, match="--red-context perhaps"):
        load_teacher(f"{TASK}:red_context=perhaps:edition=sample")


def test_negative_samples_teacher_adds_only_negative_samples(load_teacher: Load) -> None:
    more = examples_of(load_teacher(f"{TASK}:NegativeSamples", edition="sample"))
    fewer = examples_of(load_teacher(TASK, edition="sample"))
    added = Counter(example["text"] for example in more) - Counter(example["text"] for example in fewer)
    assert added.total() == 13
    assert {example["source"] for example in fewer} == {"reaction"}
    assert {example["source"] for example in more} == {"reaction", "insertion", "deletion", "copy", "generic"}


@pytest.mark.parametrize("name", ["EE", "AE", "BE", "RE"])
def test_dimension_teachers_label_by_a_single_dimension(load_teacher: Load, name: str) -> None:
    expected = [
        (f"{post.parent}\n{post.text}", post.label)
        for post in labelled_by(name.lower(), read_red(SAMPLE))
        if post.fold == "train"
    ]
    for task in (f"{TASK}:{name}", f"{TASK}:Dimension:red_dimension={name.lower()}"):
        found = examples_of(load_teacher(task, edition="sample"))
        assert [(example["text"], example["labels"][0]) for example in found] == expected
    assert {label for _, label in expected} == set(CLASSES)


def test_larger_kappa_keeps_fewer_posts(load_teacher: Load) -> None:
    sizes = [load_teacher(f"{TASK}:AE", edition="sample", red_kappa=kappa).num_examples() for kappa in (0.0, 0.8, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 84 > sizes[-1]


def test_red_test_labels_are_engaging_above_a_mean_of_one_half(load_teacher: Load) -> None:
    found = examples_of(load_teacher(f"{TASK}:Test", "test", edition="sample"))
    assert {(example["rating_mean"] > 0.5, example["labels"][0]) for example in found} == {
        (True, "engaging"),
        (False, "not engaging"),
    }


def test_red_test_mean_in_the_middle_is_not_engaging(load_teacher: Load, tmp_path: Path) -> None:
    (path := tmp_path / "mine.csv").write_text("post,rater_1,rater_2\nGoats!,1,1\nSheep.,1,0\nOk.,0,0\n")
    found = examples_of(load_teacher(f"{TASK}:Test", "test", engagement_file=str(path)))
    assert [example["labels"] for example in found] == [["engaging"], ["not engaging"], ["not engaging"]]


def test_red_test_says_which_scores_are_engaging(
    load_teacher: Load, tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    """The middle of 1.5, rounded down, and 4, the lowest and highest scores that occur, is 2.5."""
    (path := tmp_path / "mine.csv").write_text("post,score\nGoats!,4\nSheep.,2.6\nOk.,2.5\nNo.,1.5\n")
    found = examples_of(load_teacher(f"{TASK}:Test", "test", engagement_file=str(path)))
    assert [example["labels"][0] for example in found] == ["engaging"] * 2 + ["not engaging"] * 2
    assert (
        f"{path}: its scores are taken to be from 1 to 4, and posts with a mean above 2.5 to be engaging"
        in log.messages
    )


def test_red_test_does_not_read_the_training_file(load_teacher: Load, tmp_path: Path) -> None:
    (path := tmp_path / "train.csv").write_text("text,label\nGoats!,1\n")
    teacher = load_teacher(f"{TASK}:Test", "test", edition="sample", others={"red_file": str(path)})
    assert teacher.num_examples() == 12


def test_released_files_with_a_test_fold(load_teacher: Load, tmp_path: Path) -> None:
    for fold, text in (("train", "Goats!"), ("val", "Sheep!"), ("test", "Cows!")):
        (tmp_path / f"{fold}.csv").write_text(f"text,label\n{text},1\n")
    for datatype, text in (("train:ordered", "Goats!"), ("valid", "Sheep!"), ("test", "Cows!")):
        (found,) = examples_of(load_teacher(TASK, datatype, red_file=str(tmp_path)))
        assert (found["text"], found["fold"]) == (text, datatype.split(":")[0])
        assert "engagement" not in found


def test_dimension_teacher_on_released_file_raises_data_error(load_teacher: Load, tmp_path: Path) -> None:
    (path := tmp_path / "red.csv").write_text("text,label\nGoats!,1\nOk.,0\n")
    with pytest.raises(DataError, match="has no score of re"):
        load_teacher(f"{TASK}:RE", red_file=str(path))


def test_empty_fold_raises_data_error(load_teacher: Load, tmp_path: Path) -> None:
    (path := tmp_path / "red.csv").write_text("text,label,fold\nGoats!,1,train\n")
    for fold in ("valid", "test"):
        with pytest.raises(DataError, match=f"its {fold} fold has no example for DefaultTeacher"):
            load_teacher(TASK, fold, red_file=str(path))
