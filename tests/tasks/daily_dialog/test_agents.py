"""The teachers, as ParlAI itself loads them, on the sample, on invented files, and on the data set."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teachers import examples_of

from parlai_empathy.errors import DataError, OptionError
from parlai_empathy.tasks.daily_dialog import agents
from parlai_empathy.tasks.daily_dialog.build import SAMPLE, SPLITS
from parlai_empathy.tasks.daily_dialog.reader import ACTS, EMOTIONS

OneLine = Callable[..., None]
Load = Callable[..., Any]

TASK = "empathy:daily_dialog"
TEACHERS = ["Default", "Emotion", "Act"]
FOLDS = {"train": "train:ordered", "valid": "valid", "test": "test"}
README = Path(agents.__file__).parent / "README.md"


def raw(split: str) -> list[tuple[list[str], list[str], list[str]]]:
    """Return texts, acts and emotions of the sample's dialogues, by splitting lines, without the reader."""
    texts, acts, emotions = (
        (SAMPLE / split / f"dialogues{kind}_{split}.txt").read_text().splitlines() for kind in ("", "_act", "_emotion")
    )
    return [
        (text.removesuffix(" __eou__").split(" __eou__ "), act.split(), emotion.split())
        for text, act, emotion in zip(texts, acts, emotions, strict=True)
    ]


@pytest.mark.parametrize(("fold", "split"), SPLITS.items())
@pytest.mark.parametrize("history", [1, 4, -1])
def test_default_teacher_examples_match_raw_sample(load_teacher: Load, fold: str, split: str, history: int) -> None:
    expected = [
        ("\n".join(turns[max(0, place - (history if history > 0 else 99)) : place]), [turns[place]], place + 1)
        for turns, _, _ in raw(split)
        for place in range(1, len(turns))
    ]
    teacher = load_teacher(TASK, FOLDS[fold], edition="sample", dd_history=history)
    found = examples_of(teacher)
    assert [(example["text"], example["labels"], example["turn"]) for example in found] == expected
    assert teacher.num_examples() == teacher.num_episodes() == len(expected)


@pytest.mark.parametrize(("teacher", "names", "start", "column"), [("Act", ACTS, 1, 1), ("Emotion", EMOTIONS, 0, 2)])
def test_act_and_emotion_teacher_examples_match_raw_sample(
    load_teacher: Load, teacher: str, names: tuple[str, ...], start: int, column: int
) -> None:
    """The last line is the turn to classify; up to --dd-history turns precede it."""
    expected = [
        ("\n".join(dialogue[0][max(0, place - 2) : place + 1]), [names[int(dialogue[column][place]) - start]])
        for dialogue in raw("test")
        for place in range(len(dialogue[0]))
    ]
    found = examples_of(load_teacher(f"{TASK}:{teacher}", "test", edition="sample", dd_history=2))
    assert [(example["text"], example["labels"]) for example in found] == expected
    assert all(example["label_candidates"] == list(names) for example in found)


def test_default_teacher_message_fields(load_teacher: Load) -> None:
    assert examples_of(load_teacher(TASK, edition="sample"))[2] == {
        "id": TASK,
        "text": "Excuse me , does this bus go to the harbour ?\nIt does , but it takes the long way round .\n"
        "How long is the long way ?",
        "labels": ["About forty minutes . The number nine needs fifteen ."],
        "turn": 4,
        "act": "inform",
        "emotion": "no_emotion",
        "conv_id": "train_1",
        "fold": "train",
        "episode_done": True,
    }


@pytest.mark.parametrize("fold", ["valid", "test"])
def test_candidates_are_100_replies_of_the_fold(load_teacher: Load, fold: str) -> None:
    found = examples_of(load_teacher(TASK, fold, edition="sample"))
    replies = {example["labels"][0] for example in found}
    for example in found:
        assert example["candidates_source"] == "sampled"
        assert len(set(example["label_candidates"])) == 100
        assert set(example["label_candidates"]) <= replies
        assert example["labels"][0] in example["label_candidates"]


def test_training_messages_have_no_candidates(load_teacher: Load) -> None:
    assert not any("label_candidates" in example for example in examples_of(load_teacher(TASK, edition="sample")))


@pytest.mark.parametrize("teacher", TEACHERS)
def test_messages_have_fold_and_conversation_id(load_teacher: Load, teacher: str) -> None:
    for fold, split in SPLITS.items():
        for example in examples_of(load_teacher(f"{TASK}:{teacher}", FOLDS[fold], edition="sample")):
            assert example["fold"] == fold
            assert re.fullmatch(rf"{split}_\d+", example["conv_id"])
            assert example["episode_done"] is True


@pytest.mark.parametrize("history", [0, -2])
def test_invalid_history_raises_option_error(load_teacher: Load, history: int) -> None:
    with pytest.raises(OptionError, match=f"--dd-history {history}"):
        load_teacher(TASK, edition="sample", dd_history=history)


# --- overlap, and dialogues without a reply ---------------------------------------------------------------------------


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """A function that replaces the data set with invented splits, one dialogue per line."""

    def write(**dialogues: str) -> None:
        files = {}
        for fold, split in SPLITS.items():
            texts = dialogues.get(fold, "a __eou__ b __eou__").split("\n")
            (folder := tmp_path / split).mkdir()
            numbers = [["1"] * text.count("__eou__") for text in texts]
            (folder / f"dialogues_{split}.txt").write_text("\n".join(texts))
            for kind in ("act", "emotion"):
                (folder / f"dialogues_{kind}_{split}.txt").write_text("\n".join(map(" ".join, numbers)))
            files[fold] = folder
        monkeypatch.setattr(agents, "build", lambda _: files)

    return write


@pytest.mark.parametrize("teacher", TEACHERS)
def test_drop_overlap_affects_only_the_training_fold(
    load_teacher: Load, splits: Callable[..., None], teacher: str, log: pytest.LogCaptureFixture
) -> None:
    splits(
        train="A! __eou__ b __eou__ c __eou__\nd __eou__ e __eou__\nx __eou__ y __eou__",
        valid="a __eou__ B. __eou__",
        test="x __eou__ y __eou__ z __eou__",
    )
    conversations = {
        (fold, drop): {
            example["conv_id"] for example in examples_of(load_teacher(f"{TASK}:{teacher}", FOLDS[fold], **options))
        }
        for fold in FOLDS
        for drop, options in ((False, {}), (True, {"dd_drop_overlap": True}))
    }
    assert conversations["train", False] == {"train_1", "train_2", "train_3"}
    assert conversations["train", True] == {"train_2"}
    assert conversations["valid", True] == conversations["valid", False] == {"validation_1"}
    assert conversations["test", True] == conversations["test", False] == {"test_1"}
    assert "left out 2 dialogue(s) that overlap with valid or test" in log.text


def test_drop_overlap_leaving_no_dialogues_raises_data_error(
    load_teacher: Load, splits: Callable[..., None], assert_one_line: OneLine
) -> None:
    splits()
    with pytest.raises(DataError) as caught:
        load_teacher(TASK, dd_drop_overlap=True)
    assert_one_line(caught.value, "train", "--dd-drop-overlap")


def test_fold_without_replies_raises_data_error(
    load_teacher: Load, splits: Callable[..., None], assert_one_line: OneLine
) -> None:
    splits(test="a __eou__\nb __eou__")
    assert load_teacher(f"{TASK}:Act", "test").num_examples() == 2
    with pytest.raises(DataError) as caught:
        load_teacher(TASK, "test")
    assert_one_line(caught.value, "test", "its test fold has no example for DefaultTeacher")


# --- the data set ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("teacher", "row", "expected"),
    [
        ("Default", "nothing, or `:Default`", (87_170 - 11_118, 8_069 - 1_000, 7_740 - 1_000)),
        ("Emotion", "`:Emotion`", (87_170, 8_069, 7_740)),
        ("Act", "`:Act`", (87_170, 8_069, 7_740)),
    ],
)
def test_full_dataset_counts_match_readme(
    load_teacher: Load,
    real_data: Path,
    monkeypatch: pytest.MonkeyPatch,
    teacher: str,
    row: str,
    expected: tuple[int, int, int],
) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    counts = tuple(load_teacher(f"{TASK}:{teacher}", datatype).num_examples() for datatype in FOLDS.values())
    assert counts == expected
    (line,) = (line for line in README.read_text().splitlines() if line.startswith(f"| {row} |"))
    assert tuple(int(cell.replace(",", "")) for cell in line.split("|")[-4:-1]) == expected


def test_drop_overlap_count_on_full_dataset(
    load_teacher: Load, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in the raw text: 686 training dialogues (5,453 replies) share an exchange with valid or test."""
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    assert load_teacher(TASK, dd_drop_overlap=True).num_examples() == 76_052 - 5_453
