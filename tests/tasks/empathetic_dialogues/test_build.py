"""Where EmpatheticDialogues' files are, shared with ParlAI's builtin task; and the sample in this package."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import parlai.tasks.empathetic_dialogues.build as parlais_build
import pytest
from parlai.core import build_data
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.empathetic_dialogues.build import FOLDS, RESOURCES, SAMPLE, build
from parlai_empathy.tasks.empathetic_dialogues.reader import EMOTIONS, Dialogue, read_empathetic_dialogues

OneLine = Callable[..., None]


# --- the data set ----------------------------------------------------------------------------------------------------


def test_the_folder_holds_the_three_folds(opt: Opt, ed_mirror: Path, fixtures: Path) -> None:
    folder = build(opt)
    assert folder.parent.parent == Path(opt["datapath"])
    for fold in FOLDS:
        assert (folder / f"{fold}.csv").read_bytes() == (fixtures / f"empathetic_dialogues/{fold}.csv").read_bytes()


def test_options_of_old_models_name_no_edition(opt: Opt, ed_mirror: Path) -> None:
    del opt["edition"]
    assert (build(opt) / "valid.csv").is_file()


def test_a_wrong_archive_on_the_mirror_is_refused(opt: Opt, ed_mirror: Path, assert_one_line: OneLine) -> None:
    (archive := ed_mirror / "empatheticdialogues/empatheticdialogues.tar.gz").write_bytes(b"something else")
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, archive, RESOURCES[0].hashcode)


def test_a_mirror_without_the_data_set(opt: Opt, ed_mirror: Path, assert_one_line: OneLine) -> None:
    (ed_mirror / "empatheticdialogues/test.csv").unlink()
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, "test.csv", "EMPATHY_MIRROR", "empatheticdialogues/{train.csv,valid.csv,test.csv}")


# --- shared with ParlAI's builtin task --------------------------------------------------------------------------------


@pytest.fixture
def untouched() -> ModuleType:
    """ParlAI's own build module, without our plug-in and with nothing to download."""
    spec = importlib.util.spec_from_file_location("untouched_build", str(parlais_build.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.RESOURCES = []  # type: ignore[attr-defined]
    return module


def test_we_name_the_archive_that_parlai_names(untouched: ModuleType) -> None:
    ours, theirs = RESOURCES[0], parlais_build.RESOURCES[0]
    assert (ours.url, ours.file_name, ours.hashcode) == (theirs.url, theirs.file_name, theirs.hashcode)


def test_parlai_takes_what_we_built(opt: Opt, ed_mirror: Path, untouched: ModuleType) -> None:
    folder = build(opt)
    untouched.build(opt)  # it would empty a folder without a version mark, or with another version's
    assert sorted(path.name for path in folder.iterdir()) == ["test.csv", "train.csv", "valid.csv"]


def test_we_take_what_parlai_built(opt: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", "/nowhere")
    home = Path(opt["datapath"]) / "empatheticdialogues"
    (inner := home / "empatheticdialogues").mkdir(parents=True)
    for fold in FOLDS:
        (inner / f"{fold}.csv").write_text("as unpacked by ParlAI")
    build_data.mark_done(str(home), version_string="1.0")
    assert build(opt) == inner
    assert (inner / "train.csv").read_text() == "as unpacked by ParlAI"


def test_parlais_task_uses_our_builder(opt: Opt, ed_mirror: Path) -> None:
    parlais_build.build(opt)
    assert (Path(opt["datapath"]) / "empatheticdialogues/empatheticdialogues/train.csv").is_file()


# --- the sample ------------------------------------------------------------------------------------------------------


def sample(fold: str) -> list[Dialogue]:
    return list(read_empathetic_dialogues(SAMPLE / f"{fold}.csv"))


def test_the_sample_needs_no_data_folder(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("")
    assert build({"datapath": str(file / "data"), "edition": "sample"}) == SAMPLE


def test_the_sample_is_three_files_and_nothing_else() -> None:
    assert sorted(path.name for path in SAMPLE.iterdir()) == ["test.csv", "train.csv", "valid.csv"]


@pytest.mark.parametrize(("fold", "for_each_emotion"), [("train", 9), ("valid", 2), ("test", 2)])
def test_each_emotion_of_the_sample_has_as_many_conversations(fold: str, for_each_emotion: int) -> None:
    # 32 x 9 = 288, 32 x 2 = 64
    counts = Counter(dialogue.emotion for dialogue in sample(fold))
    assert counts == dict.fromkeys(EMOTIONS, for_each_emotion)


@pytest.mark.parametrize("fold", FOLDS)
def test_the_sample_is_printable_ascii(fold: str) -> None:
    text = (SAMPLE / f"{fold}.csv").read_bytes()
    assert set(text) <= {*range(0x20, 0x7F), ord("\n")}


@pytest.mark.parametrize("fold", FOLDS)
def test_conversations_of_the_sample_have_four_to_six_turns_that_say_something(fold: str) -> None:
    for dialogue in sample(fold):
        assert 4 <= len(dialogue.turns) <= 6
        assert dialogue.situation
        assert all(turn.text for turn in dialogue.turns)
        assert [turn.worker for turn in dialogue.turns] == ["0", "1", "0", "1", "0", "1"][: len(dialogue.turns)]


def test_no_conversation_of_the_sample_has_the_name_of_another() -> None:
    names = [dialogue.conv_id for fold in FOLDS for dialogue in sample(fold)]
    assert len(set(names)) == 288 + 64 + 64


@pytest.mark.parametrize("part", ["replies", "openings", "situations"])
def test_no_text_of_the_sample_stands_in_two_folds(part: str) -> None:
    texts = {fold: texts_of(part, sample(fold)) for fold in FOLDS}
    assert not texts["train"] & texts["valid"]
    assert not texts["train"] & texts["test"]
    assert not texts["valid"] & texts["test"]


def texts_of(part: str, dialogues: list[Dialogue]) -> set[str]:
    """Return texts in lower case, so that those that differ only in case count as equal."""
    if part == "situations":
        texts = [dialogue.situation for dialogue in dialogues]
    elif part == "openings":
        texts = [dialogue.turns[0].text for dialogue in dialogues]
    else:
        texts = [turn.text for dialogue in dialogues for turn in dialogue.turns if turn.is_listener]
    return {text.lower() for text in texts}
