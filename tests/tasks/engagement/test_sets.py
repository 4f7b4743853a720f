"""The sets by name: where they come from, and how they are read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from parlai_empathy.errors import DataError, DownloadError, OptionError
from parlai_empathy.task_kit.builder import sha256_of
from parlai_empathy.tasks.engagement.sets import EVALUATION_SETS, SAMPLE, SETS, engagement_set, read_set

OneLine = Callable[..., None]


def test_set_names() -> None:
    assert SETS == ("better", "predeng_600", "fed", "red_test", "grade")


@pytest.mark.parametrize("name", SETS)
def test_each_set_has_a_sample_within_its_scale(name: str, tmp_path: Path) -> None:
    replies = engagement_set(name, {"datapath": str(tmp_path), "edition": "sample"})
    scale = EVALUATION_SETS[name].scale_with(replies)
    assert len(replies) >= 10
    assert len({one.item for one in replies}) == len(replies)
    assert all(scale[0] <= rating <= scale[-1] for one in replies for rating in one.ratings)
    assert not any("\n" in text for one in replies for text in (*one.context, one.reply))


def test_all_sets_are_built_from_one_mirror_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SAMPLE, tmp_path / "mirror" / "engagement")
    monkeypatch.setenv("EMPATHY_MIRROR", str(tmp_path / "mirror"))
    for name in SETS:  # one after another: none removes another's folder
        assert engagement_set(name, {"datapath": str(tmp_path / "data")}) == read_set(
            name, SAMPLE / EVALUATION_SETS[name].file
        )
    assert len(list((tmp_path / "data" / "engagement").iterdir())) == len(SETS)


@pytest.mark.parametrize("name", ["better", "red_test"])
def test_set_without_a_url_explains_how_to_use_a_mirror(tmp_path: Path, assert_one_line: OneLine, name: str) -> None:
    with pytest.raises(DownloadError) as caught:
        engagement_set(name, {"datapath": str(tmp_path)})
    assert_one_line(caught.value, "EMPATHY_MIRROR", f"engagement/{name}.csv")


def test_unknown_set_raises_option_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no evaluation set 'worse': it must be one of better, predeng_600"):
        engagement_set("worse", {"datapath": str(tmp_path)})


def test_empty_file_raises_data_error(tmp_path: Path, assert_one_line: OneLine) -> None:
    (tmp_path / "empty.csv").write_text("query,response,human_score\n")
    with pytest.raises(DataError) as caught:
        read_set("predeng_600", tmp_path / "empty.csv")
    assert_one_line(caught.value, tmp_path / "empty.csv", "no rated reply")


def test_damaged_copy_error_says_how_to_fetch_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would otherwise be found again each time."""
    (mirror := tmp_path / "mirror" / "engagement").mkdir(parents=True)
    (mirror / "fed_data.json").write_text("<html>Log in</html>")
    monkeypatch.setenv("EMPATHY_MIRROR", str(mirror.parent))
    home = tmp_path / "data" / "engagement" / "fed_data"
    with pytest.raises(DataError, match=rf"{home}/fed_data.json: .*; or delete {home}, and all of it is fetched"):
        engagement_set("fed", {"datapath": str(tmp_path / "data")})


def test_checksum_matches_the_real_file(real_data: Path) -> None:
    assert sha256_of(real_data / "engagement" / "predeng600.csv") == EVALUATION_SETS["predeng_600"].sha256


def test_counts_of_the_real_data(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPATHY_MIRROR", str(real_data))
    opt = {"datapath": str(tmp_path)}
    assert [len(engagement_set(name, opt)) for name in ("predeng_600", "fed")] == [600, 375]
