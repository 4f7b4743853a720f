"""Where DailyDialog's files are: the authors' archive, a mirror, or the sample in this package."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core import build_data
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.daily_dialog.build import ARCHIVE, SAMPLE, SPLITS, build
from parlai_empathy.tasks.daily_dialog.reader import Dialogue, read_daily_dialog

OneLine = Callable[..., None]


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with the sample, packed as the authors packed the data set."""
    (folder := tmp_path / "mirror" / "dailydialog").mkdir(parents=True)
    for split in SPLITS.values():
        pack(SAMPLE / split, folder / f"{split}.zip")
    monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))
    return folder


def pack(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as packed:
        for file in folder.iterdir():
            packed.write(file, f"{folder.name}/{file.name}")


# --- the data set ----------------------------------------------------------------------------------------------------


def test_build_fetches_zip_files_from_mirror(opt: Opt, mirror: Path) -> None:
    found = build(opt)
    assert {fold: path.name for fold, path in found.items()} == {
        "train": "train.zip",
        "valid": "validation.zip",
        "test": "test.zip",
    }
    for fold, split in SPLITS.items():
        assert list(read_daily_dialog(found[fold])) == list(read_daily_dialog(SAMPLE / split))
    shutil.rmtree(mirror)
    assert build(opt) == found  # already built


def test_build_leaves_parlai_task_folder_untouched(opt: Opt, mirror: Path) -> None:
    """ParlAI's builder deletes other versions in that folder."""
    theirs = Path(opt["datapath"]) / "dailydialog"
    theirs.mkdir(parents=True)
    (theirs / "train.json").write_text("{}")
    build_data.mark_done(str(theirs), "None")
    home = build(opt)["train"].parents[1]
    assert home == Path(opt["datapath"]) / "daily_dialog"
    assert (theirs / "train.json").is_file()


def test_checksum_mismatch_error_names_url_and_checksum(opt: Opt, asked: list[str], assert_one_line: OneLine) -> None:
    """Its checksum must be the recorded one, which the bytes served here do not have."""
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert asked == ["http://yanran.li/files/ijcnlp_dailydialog.zip"]
    assert_one_line(caught.value, asked[0], ARCHIVE.hashcode)


def test_missing_mirror_file_error_lists_expected_files(opt: Opt, mirror: Path, assert_one_line: OneLine) -> None:
    (mirror / "validation.zip").unlink()
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(
        caught.value,
        mirror / "validation.zip",
        "dailydialog/ijcnlp_dailydialog.zip or dailydialog/{train.zip,validation.zip,test.zip}",
    )


# --- the sample ------------------------------------------------------------------------------------------------------


def sample(fold: str) -> list[Dialogue]:
    return list(read_daily_dialog(build({"edition": "sample"})[fold]))


def test_sample_folds_have_at_least_100_distinct_replies() -> None:
    for fold, size in (("train", 36), ("valid", 27), ("test", 27)):
        dialogues = sample(fold)
        assert len(dialogues) == size
        replies = {turn.text for dialogue in dialogues for turn in dialogue.turns[1:]}
        assert len(replies) >= 100


def test_sample_folds_share_no_turns() -> None:
    turns = {fold: {turn.text for dialogue in sample(fold) for turn in dialogue.turns} for fold in SPLITS}
    for one, other in (("train", "valid"), ("train", "test"), ("valid", "test")):
        assert turns[one].isdisjoint(turns[other])


def test_sample_is_printable_ascii() -> None:
    for file in SAMPLE.rglob("*.txt"):
        assert set(file.read_bytes()) <= {*range(0x20, 0x7F), ord("\n")}


def test_sample_train_fold_covers_all_acts_and_emotions() -> None:
    turns = [turn for dialogue in sample("train") for turn in dialogue.turns]
    assert len({turn.act for turn in turns}) == 4
    assert len({turn.emotion for turn in turns}) == 7
