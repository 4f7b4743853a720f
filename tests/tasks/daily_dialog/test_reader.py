"""The reader: the authors' layout, packed or not, every kind of error, and random input."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_empathy.errors import DataError
from parlai_empathy.tasks.daily_dialog import reader
from parlai_empathy.tasks.daily_dialog.reader import ACTS, EMOTIONS, Dialogue, Turn, read_daily_dialog

OneLine = Callable[..., None]
Write = Callable[..., Path]

TEXTS = "Hello . __eou__ Who is there ? __eou__\nOh no ! __eou__ What now , then ? __eou__ Run ! __eou__\n"
ACT = "1 2 \n1 2 3 \n"
EMOTION = "0 6 \n3 0 5 \n"
EXPECTED = [
    Dialogue("train_1", (Turn("Hello .", "inform", "no_emotion"), Turn("Who is there ?", "question", "surprise"))),
    Dialogue(
        "train_2",
        (
            Turn("Oh no !", "inform", "fear"),
            Turn("What now , then ?", "question", "no_emotion"),
            Turn("Run !", "directive", "sadness"),
        ),
    ),
]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes a split's three files, and returns their folder."""

    def write_split(texts: str | bytes = TEXTS, acts: str | bytes = ACT, emotions: str | bytes = EMOTION) -> Path:
        (folder := tmp_path / "train").mkdir(exist_ok=True)
        for kind, content in (("", texts), ("_act", acts), ("_emotion", emotions)):
            data = content.encode() if isinstance(content, str) else content
            (folder / f"dialogues{kind}_train.txt").write_bytes(data)
        return folder

    return write_split


def read(path: Path) -> list[Dialogue]:
    return list(read_daily_dialog(path))


# --- the authors' layout ---------------------------------------------------------------------------------------------


def test_turns_are_read_with_acts_and_emotions(write: Write) -> None:
    assert read(write()) == EXPECTED


def test_zip_file_reads_like_folder(write: Write) -> None:
    folder = write()
    with zipfile.ZipFile(target := folder.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        for file in folder.iterdir():
            packed.write(file, f"train/{file.name}")
    assert read(target) == EXPECTED


def test_act_and_emotion_numbers_follow_the_paper(write: Write) -> None:
    """Li et al. 2017: acts are numbered from 1, emotions from 0 (no emotion)."""
    texts = "a __eou__ " * 7
    found = read(write(texts, "1 2 3 4 1 1 1", "0 1 2 3 4 5 6"))[0]
    assert [turn.act for turn in found.turns[:4]] == list(ACTS) == ["inform", "question", "directive", "commissive"]
    assert [turn.emotion for turn in found.turns] == list(EMOTIONS)
    assert EMOTIONS[4] == "happiness"


@pytest.mark.parametrize(
    "change", [lambda t: t.replace("\n", "\r\n"), lambda t: t.rstrip("\n"), lambda t: "\ufeff" + t]
)
def test_crlf_bom_and_missing_final_newline_are_accepted(write: Write, change: Callable[[str], str]) -> None:
    assert read(write(change(TEXTS), change(ACT), change(EMOTION))) == EXPECTED


def test_last_turn_needs_no_eou_marker(write: Write) -> None:
    assert read(write(TEXTS.replace("there ? __eou__", "there ?"))) == EXPECTED


@pytest.mark.parametrize("character", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\r", "\t", "\xa0"])
def test_only_line_feeds_end_lines(write: Write, character: str) -> None:
    """Within a text, such a character counts as a space."""
    assert read(write(TEXTS.replace("Who is", f"Who{character}is"))) == EXPECTED


def test_known_split_turn_is_rejoined(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in line 7852 of the authors' train file, which the reader recognises by its SHA-256."""
    line = "Oh no ! __eou__ What now __eou__ , then ? __eou__ Run ! __eou__"
    monkeypatch.setattr(reader, "_SPLIT_IN_TWO", {hashlib.sha256(line.encode()).hexdigest(): 1})
    assert read(write(TEXTS.replace(TEXTS.split("\n")[1], line + " "))) == EXPECTED


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({"acts": "1 2\n1 2"}, ("dialogues_act_train.txt, line 2", "2 number(s) for 3 turn(s)")),
        ({"emotions": "0 6 0\n3 0 5"}, ("dialogues_emotion_train.txt, line 1", "3 number(s) for 2 turn(s)")),
        ({"acts": "1 2\n1 2 0"}, ("dialogues_act_train.txt, line 2", "'0' is not one of 1, 2, 3, 4")),
        ({"acts": "1 2\n1 2 5"}, ("dialogues_act_train.txt, line 2", "'5'")),
        ({"emotions": "0 7\n3 0 5"}, ("dialogues_emotion_train.txt, line 1", "'7' is not one of 0, 1, 2, 3, 4, 5, 6")),
        ({"emotions": "0 6\n3 0 \u0665"}, ("dialogues_emotion_train.txt, line 2", "not one of")),
        ({"emotions": "0 06\n3 0 5"}, ("dialogues_emotion_train.txt, line 1", "'06'")),
        ({"texts": TEXTS.replace("Hello .", " ")}, ("dialogues_train.txt, line 1", "turn 1 is empty")),
        ({"texts": TEXTS.replace("What now , then ?", "")}, ("dialogues_train.txt, line 2", "turn 2 is empty")),
        ({"texts": "\n" + TEXTS.split("\n")[1]}, ("dialogues_train.txt, line 1", "has no turn")),
        ({"texts": b"caf\xe9 __eou__ a __eou__\n" + TEXTS.split("\n")[1].encode()}, ("line 1", "not UTF-8")),
        ({"acts": "1 2\n"}, ("dialogues_act_train.txt", "1 lines, but dialogues_train.txt has 2")),
        ({"emotions": EMOTION + "0\n"}, ("dialogues_emotion_train.txt", "3 lines, but dialogues_train.txt has 2")),
    ],
)
def test_invalid_data_error_names_file_and_cause(
    write: Write, files: dict[str, str | bytes], parts: tuple[str, ...], assert_one_line: OneLine
) -> None:
    folder = write(**files)
    with pytest.raises(DataError) as caught:
        read(folder)
    assert_one_line(caught.value, folder, *parts)


def test_long_damaged_value_is_shortened_in_the_error(write: Write, assert_one_line: OneLine) -> None:
    folder = write(acts=f"1 2\n1 2 {'x' * 100_000}")
    with pytest.raises(DataError) as caught:
        read(folder)
    assert_one_line(caught.value, "dialogues_act_train.txt, line 2", "'xxx")
    assert len(str(caught.value)) < len(str(folder)) + 200


def test_valid_dialogues_are_yielded_before_the_error(write: Write) -> None:
    dialogues = read_daily_dialog(write(acts="1 2\n9 9 9"))
    assert next(dialogues) == EXPECTED[0]
    with pytest.raises(DataError):
        next(dialogues)


def test_folder_missing_a_file_raises_data_error(write: Write, assert_one_line: OneLine) -> None:
    folder = write()
    (folder / "dialogues_act_train.txt").unlink()
    with pytest.raises(DataError) as caught:
        read(folder)
    assert_one_line(caught.value, folder / "dialogues_act_train.txt", "No such file")


def test_missing_zip_file_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path / "train.zip")
    assert_one_line(caught.value, tmp_path / "train.zip", "No such file")


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "damaged", "long name", "another"])
def test_invalid_zip_file_raises_data_error(write: Write, kind: str, assert_one_line: OneLine) -> None:
    folder = write(TEXTS * 50, ACT * 50, EMOTION * 50)
    with zipfile.ZipFile(target := folder.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        for file in folder.iterdir():
            packed.write(file, f"{'other' if kind == 'another' else 'train'}/{file.name}")
    whole = target.read_bytes()
    changed = {"empty": b"", "text": b"<html>", "cut": whole[:200], "another": whole}
    changed["damaged"] = whole[:70] + bytes(40) + whole[110:]
    changed["long name"] = whole[:26] + (len(whole) // 2).to_bytes(2, "little") + whole[28:]
    target.write_bytes(changed[kind])
    with pytest.raises(DataError) as caught:
        read(target)
    assert_one_line(caught.value, target, "a zip file of DailyDialog")
    assert len(str(caught.value)) < 2 * len(str(target)) + 300


@settings(max_examples=60)
@given(st.binary(max_size=60), st.text(max_size=12), st.text(alphabet="0123 \n", max_size=12))
def test_arbitrary_files_give_valid_dialogues_or_data_error(texts: bytes, acts: str, emotions: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train"
        path.mkdir()
        (path / "dialogues_train.txt").write_bytes(texts)
        (path / "dialogues_act_train.txt").write_bytes(acts.encode())
        (path / "dialogues_emotion_train.txt").write_bytes(emotions.encode())
        message = str(path)
        try:
            for dialogue in read_daily_dialog(path):
                assert all(turn.text and turn.act in ACTS and turn.emotion in EMOTIONS for turn in dialogue.turns)
        except DataError as error:
            message = str(error)
        assert message.startswith(str(path))
        assert "\n" not in message


# --- the data set ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "dialogues", "turns"), [("train", 11_118, 87_170), ("validation", 1_000, 8_069), ("test", 1_000, 7_740)]
)
def test_full_dataset_has_expected_counts(real_data: Path, split: str, dialogues: int, turns: int) -> None:
    """The published number of dialogues; the number of turns is that of acts in the raw file, counted separately."""
    path = real_data / "dailydialog" / f"{split}.zip"
    found = read(path)
    assert (len(found), sum(len(dialogue.turns) for dialogue in found)) == (dialogues, turns)
    raw = zipfile.ZipFile(path).read(f"{split}/dialogues_act_{split}.txt").split()
    counts = Counter(turn.act for dialogue in found for turn in dialogue.turns)
    assert counts == {name: raw.count(str(number).encode()) for number, name in enumerate(ACTS, start=1)}


def test_split_turn_in_full_dataset_is_rejoined(real_data: Path) -> None:
    found = read(real_data / "dailydialog" / "train.zip")[7851]
    assert found.conv_id == "train_7852"
    assert len(found.turns) == 11
    assert found.turns[4].text.count(" . ") == 1  # two sentences, which the file splits into two turns
