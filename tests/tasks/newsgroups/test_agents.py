"""The teacher, as ParlAI itself loads it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.newsgroups import agents
from parlai_empathy.tasks.newsgroups.build import SAMPLE
from parlai_empathy.tasks.newsgroups.splits import fold_of
from parlai_empathy.tasks.newsgroups.topics import TOPICS

OneLine = Callable[..., None]
Load = Callable[..., Any]

TASK = "empathy:newsgroups"
README = Path(agents.__file__).parent / "README.md"
FOLDS = {"train": "train:ordered", "valid": "valid", "test": "test"}


@pytest.mark.parametrize(("fold", "size"), [("train", 61), ("valid", 20), ("test", 20)])
def test_sample_posts_match_their_files(load_teacher: Load, fold: str, size: int) -> None:
    teacher = load_teacher(TASK, FOLDS[fold], edition="sample")
    found = examples_of(teacher)
    assert teacher.num_examples() == teacher.num_episodes() == len(found) == size
    for example in found:
        lines = (SAMPLE / example["post_id"]).read_text().split("\n")
        assert example["labels"] == [TOPICS[example["post_id"].split("/")[0]]]
        assert f"Subject: {example['subject']}" in lines
        assert fold_of(example["text"]) == example["fold"] == fold


def test_message_fields(load_teacher: Load) -> None:
    (example,) = (e for e in examples_of(load_teacher(TASK, edition="sample")) if e["post_id"] == "sci.space/51071")
    assert example["text"].startswith("How much fuel does a satellite need to change the plane of its orbit by ten ")
    assert {name: value for name, value in example.items() if name != "text"} == {
        "id": TASK,
        "labels": ["space"],
        "label_candidates": list(TOPICS.values()),
        "subject": "Orbits",
        "post_id": "sci.space/51071",
        "fold": "train",
        "episode_done": True,
    }


def test_quotes_and_signatures_are_left_out(load_teacher: Load) -> None:
    for example in examples_of(load_teacher(TASK, edition="sample")):
        assert "writes:" not in example["text"]
        assert "I wonder what" not in example["text"]
        assert "opinions" not in example["text"]


def test_cross_post_is_an_example_of_each_of_its_groups(load_teacher: Load) -> None:
    found = examples_of(load_teacher(TASK, edition="sample"))
    topics = [example["labels"][0] for example in found if example["text"].startswith("For sale or trade: a Quadra")]
    assert topics == ["mac", "sale"]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that puts an archive of posts with the given bodies on a mirror."""

    def pack(*bodies: str) -> None:
        (folder := tmp_path / "mirror" / "20newsgroups").mkdir(parents=True)
        with tarfile.open(folder / "20_newsgroups_19997.tar.gz", "w:gz") as tar:
            for number, body in enumerate(bodies):
                content = f"From: a\n\n{body}".encode()
                member = tarfile.TarInfo(f"20_newsgroups/sci.med/{number}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))

    return pack


def test_posts_without_own_text_are_left_out_and_logged(
    load_teacher: Load, archive: Callable[..., None], log: pytest.LogCaptureFixture
) -> None:
    words = [str(n) for n in range(99)]
    archive(*words, "> only a quote", "-- \nonly a signature", "")
    assert sum(load_teacher(TASK, datatype).num_examples() for datatype in FOLDS.values()) == 99
    assert "left out 3 post(s) of all folds without text of their own" in log.text


def test_empty_fold_raises_data_error(
    load_teacher: Load, archive: Callable[..., None], assert_one_line: OneLine
) -> None:
    archive("> nothing")
    with pytest.raises(DataError) as caught:
        load_teacher(TASK, "test")
    assert_one_line(caught.value, "20_newsgroups_19997.tar.gz", "its test fold has no example for DefaultTeacher")


def test_counts_of_the_real_data_match_the_readme(
    load_teacher: Load, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    found = tuple(load_teacher(TASK, datatype).num_examples() for datatype in FOLDS.values())
    (line,) = (line for line in README.read_text().splitlines() if line.startswith("| nothing, or `:Default` |"))
    assert tuple(int(cell.replace(",", "")) for cell in line.split("|")[-4:-1]) == found
    assert sum(found) == 19_997 - 82


def test_readme_lists_every_topic() -> None:
    text = README.read_text()
    assert all(f"| `{group}` | {topic} |" in text for group, topic in TOPICS.items())
