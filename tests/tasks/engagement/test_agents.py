"""The teachers, as ParlAI itself loads them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.agent_kit.judging.task_classes import task_classes
from parlai_empathy.errors import DataError
from parlai_empathy.tasks.engagement.build import CONVERSATIONS, SCORED
from parlai_empathy.tasks.engagement.convai import read_conversations, read_ids, split_conversations
from parlai_empathy.tasks.engagement.sets import SAMPLE, engagement_set

Load = Callable[..., Any]

TASK = "empathy:engagement"
NAMES = {"": "predeng_600", ":Predeng600": "predeng_600", ":Fed": "fed", ":Better": "better", ":Grade": "grade"}


@pytest.mark.parametrize("datatype", ["train:ordered", "valid", "test"])
@pytest.mark.parametrize("teacher", [*NAMES, ":RedTest"])
def test_every_fold_holds_the_whole_evaluation_set(
    load_teacher: Load, teacher: str, datatype: str, tmp_path: Path
) -> None:
    found = examples_of(load_teacher(TASK + teacher, datatype, edition="sample"))
    name = NAMES.get(teacher, "red_test")
    replies = engagement_set(name, {"edition": "sample", "datapath": str(tmp_path)})
    assert [example["rating_mean"] for example in found] == [one.human for one in replies]
    assert [example["text"].split("\n")[-1] for example in found] == [one.reply for one in replies]
    assert {example["fold"] for example in found} == {"all"}
    assert all(example["episode_done"] for example in found)
    assert all(example["labels"][0] in example["label_candidates"] for example in found)


def test_training_on_an_evaluation_set_logs_a_warning(load_teacher: Load, log: pytest.LogCaptureFixture) -> None:
    load_teacher(f"{TASK}:Fed", "valid", edition="sample")
    assert "is an evaluation set" not in log.text
    load_teacher(f"{TASK}:Fed", "train", edition="sample")
    assert "fed is an evaluation set" in log.text


@pytest.mark.parametrize(
    ("teacher", "classes"),
    [("Predeng600", "12345"), ("Fed", "012"), ("Grade", "12345"), ("RedTest", "01"), ("ConvAI", "01")],
)
def test_task_classes_of_each_teacher(tmp_path: Path, teacher: str, classes: str) -> None:
    opt = {"task": f"{TASK}:{teacher}", "edition": "sample", "datapath": str(tmp_path), "datatype": "train"}
    assert task_classes(opt) == list(classes)


def test_engagement_file_replaces_the_evaluation_set(load_teacher: Load, tmp_path: Path) -> None:
    (path := tmp_path / "mine.tsv").write_text("post\trater_1\trater_2\nGoats!\t1\t0\nOk.\t0\t0\n")
    found = examples_of(load_teacher(f"{TASK}:RedTest", "test", engagement_file=str(path)))
    assert [(example["text"], example["rating_mean"]) for example in found] == [("Goats!", 0.5), ("Ok.", 0.0)]


@pytest.mark.parametrize("datatype", ["train:ordered", "valid", "test"])
def test_convai_leaves_out_conversations_labelled_by_people(load_teacher: Load, datatype: str) -> None:
    fold = datatype.split(":")[0]
    ids = read_ids(SAMPLE / SCORED)
    conversations = [one for one in read_conversations(SAMPLE / CONVERSATIONS) if one.conversation_id not in ids]
    assert len(conversations) == 38  # of the sample's 41, one has no turns and two were labelled reply by reply
    expected = Counter(
        (f"{pair.query}\n{pair.reply}", pair.label)
        for conversation in split_conversations(conversations)[fold]
        for pair in conversation.pairs
    )
    found = examples_of(load_teacher(f"{TASK}:ConvAI", datatype, edition="sample"))
    assert Counter((example["text"], example["labels"][0]) for example in found) == expected
    assert {example["labels"][0] for example in found} == {"0", "1"}


def test_empty_replies_are_left_out_and_logged(load_teacher: Load, log: pytest.LogCaptureFixture) -> None:
    found = examples_of(load_teacher(f"{TASK}:ConvAIRated", "test", edition="sample"))
    assert [example["labels"][0] for example in found] == ["1", "1", "1", "0", "0", "0", "0"]
    assert "left out 1 pair(s) of the test fold" in log.text


@pytest.mark.parametrize(("datatype", "size"), [("train:ordered", 12), ("valid", 4), ("test", 4)])
def test_daily_dialog_finetune_sizes(load_teacher: Load, datatype: str, size: int) -> None:
    assert load_teacher(f"{TASK}:DailyDialogFinetune", datatype, edition="sample").num_examples() == size


def test_empty_fold_raises_data_error(load_teacher: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = tmp_path / "mirror" / "engagement"
    mirror.mkdir(parents=True)
    (mirror / CONVERSATIONS).write_text("[]")
    for file in ("humanAMT_engscores_utt.csv", "DD_finetune_train.csv", "DD_finetune_valid.csv"):
        (mirror / file).write_text("id,query,reply,label\n")
    (mirror / SCORED).write_text("7\t2\n")
    monkeypatch.setenv("EMPATHY_MIRROR", str(mirror.parent))
    for teacher in ("ConvAI", "ConvAIRated", "DailyDialogFinetune"):
        with pytest.raises(DataError, match=f"its valid fold has no example for {teacher}Teacher"):
            load_teacher(f"{TASK}:{teacher}", "valid")


@pytest.mark.parametrize(("broken", "advice"), [(SCORED, ""), (CONVERSATIONS, r"; or delete \S+/convai, and .*")])
def test_advice_is_about_the_folder_of_the_broken_file(
    load_teacher: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, advice: str
) -> None:
    mirror = tmp_path / "mirror" / "engagement"
    shutil.copytree(SAMPLE, mirror)
    (mirror / broken).write_text("")
    monkeypatch.setenv("EMPATHY_MIRROR", str(mirror.parent))
    with pytest.raises(DataError, match=rf"{broken}.*: fetch it again{advice}$"):
        load_teacher(f"{TASK}:ConvAI", "train")
