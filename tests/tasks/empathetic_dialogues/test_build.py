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


def test_build_fetches_all_folds_from_mirror(opt: Opt, ed_mirror: Path, fixtures: Path) -> None:
    folder = build(opt)
    assert folder.parent.parent == Path(opt["datapath"])
    for fold in FOLDS:
        assert (folder / f"{fold}.csv").read_bytes() == (fixtures / f"empathetic_dialogues/{fold}.csv").read_bytes()


def test_build_works_without_edition_option(opt: Opt, ed_mirror: Path) -> None:
    del opt["edition"]
    assert (build(opt) / "valid.csv").is_file()


def test_mirror_archive_with_wrong_checksum_raises_download_error(
    opt: Opt, ed_mirror: Path, assert_one_line: OneLine
) -> None:
    (archive := ed_mirror / "empatheticdialogues/empatheticdialogues.tar.gz").write_bytes(b"something else")
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, archive, RESOURCES[0].hashcode)


def test_missing_mirror_file_error_lists_expected_files(opt: Opt, ed_mirror: Path, assert_one_line: OneLine) -> None:
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


def test_archive_matches_parlai_resource(untouched: ModuleType) -> None:
    ours, theirs = RESOURCES[0], parlais_build.RESOURCES[0]
    assert (ours.url, ours.file_name, ours.hashcode) == (theirs.url, theirs.file_name, theirs.hashcode)


def test_parlai_builder_keeps_files_built_by_plugin(opt: Opt, ed_mirror: Path, untouched: ModuleType) -> None:
    folder = build(opt)
    untouched.build(opt)  # it would empty a folder without a version mark, or with another version's
    assert sorted(path.name for path in folder.iterdir()) == ["test.csv", "train.csv", "valid.csv"]


def test_build_reuses_files_built_by_parlai(opt: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", "/nowhere")
    home = Path(opt["datapath"]) / "empatheticdialogues"
    (inner := home / "empatheticdialogues").mkdir(parents=True)
    for fold in FOLDS:
        (inner / f"{fold}.csv").write_text("as unpacked by ParlAI")
    build_data.mark_done(str(home), version_string="1.0")
    assert build(opt) == inner
    assert (inner / "train.csv").read_text() == "as unpacked by ParlAI"


def test_parlai_task_uses_plugin_builder(opt: Opt, ed_mirror: Path) -> None:
    parlais_build.build(opt)
    assert (Path(opt["datapath"]) / "empatheticdialogues/empatheticdialogues/train.csv").is_file()


# --- the sample ------------------------------------------------------------------------------------------------------


def sample(fold: str) -> list[Dialogue]:
    return list(read_empathetic_dialogues(SAMPLE / f"{fold}.csv"))


def test_sample_needs_no_data_folder(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("")
    assert build({"datapath": str(file / "data"), "edition": "sample"}) == SAMPLE


def test_sample_consists_of_three_csv_files() -> None:
    assert sorted(path.name for path in SAMPLE.iterdir()) == ["test.csv", "train.csv", "valid.csv"]


@pytest.mark.parametrize(("fold", "for_each_emotion"), [("train", 9), ("valid", 2), ("test", 2)])
def test_sample_emotions_are_balanced(fold: str, for_each_emotion: int) -> None:
    # 32 x 9 = 288, 32 x 2 = 64
    counts = Counter(dialogue.emotion for dialogue in sample(fold))
    assert counts == dict.fromkeys(EMOTIONS, for_each_emotion)


@pytest.mark.parametrize("fold", FOLDS)
def test_sample_is_printable_ascii(fold: str) -> None:
    text = (SAMPLE / f"{fold}.csv").read_bytes()
    assert set(text) <= {*range(0x20, 0x7F), ord("\n")}


@pytest.mark.parametrize("fold", FOLDS)
def test_sample_conversations_have_four_to_six_nonempty_turns(fold: str) -> None:
    for dialogue in sample(fold):
        assert 4 <= len(dialogue.turns) <= 6
        assert dialogue.situation
        assert all(turn.text for turn in dialogue.turns)
        assert [turn.worker for turn in dialogue.turns] == ["0", "1", "0", "1", "0", "1"][: len(dialogue.turns)]


def test_sample_conversation_ids_are_unique() -> None:
    names = [dialogue.conv_id for fold in FOLDS for dialogue in sample(fold)]
    assert len(set(names)) == 288 + 64 + 64


@pytest.mark.parametrize("part", ["replies", "openings", "situations"])
def test_sample_folds_share_no_texts(part: str) -> None:
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
