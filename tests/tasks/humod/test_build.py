"""Where HUMOD's file is: an option's, the official one or a mirror's copy, or the sample in this package."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.humod.build import SAMPLE, SOURCE, build, title_of
from parlai_empathy.tasks.humod.reader import read_humod
from parlai_empathy.tasks.humod.records import Pair

OneLine = Callable[..., None]


@pytest.fixture
def opt(tmp_path: Path) -> Opt:
    """Options that name a data folder which does not exist yet."""
    return Opt({"datapath": str(tmp_path / "data"), "edition": "full", "humod_file": None})


@pytest.fixture
def mirror(tmp_path: Path, fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror that holds the invented file under the official name."""
    (folder := tmp_path / "mirror" / "humod").mkdir(parents=True)
    shutil.copy(fixtures / "humod/HUMOD_Dataset.TXT", folder)
    monkeypatch.setenv("EMPATHY_MIRROR", str(folder.parent))
    return folder


# --- the data set ----------------------------------------------------------------------------------------------------


def test_build_fetches_file_from_mirror(opt: Opt, mirror: Path) -> None:
    found = build(opt)
    assert found == Path(opt["datapath"]) / "humod" / "HUMOD_Dataset.TXT"
    assert found.read_bytes() == (mirror / "HUMOD_Dataset.TXT").read_bytes()
    shutil.rmtree(mirror)
    assert build(opt) == found  # already built


def test_build_works_without_edition_and_file_options(opt: Opt, mirror: Path) -> None:
    assert build({"datapath": opt["datapath"]}).is_file()


def test_missing_mirror_file_raises_error_and_leaves_no_folder(
    opt: Opt, mirror: Path, assert_one_line: OneLine
) -> None:
    (mirror / "HUMOD_Dataset.TXT").unlink()
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, mirror / "HUMOD_Dataset.TXT", "EMPATHY_MIRROR", "must hold humod/HUMOD_Dataset.TXT")
    assert str(caught.value).endswith("; or name a file of your own with --humod-file")
    assert not (Path(opt["datapath"]) / "humod").exists()


def test_build_downloads_from_official_address_without_mirror(opt: Opt, asked: list[str]) -> None:
    """The authors' repository on GitHub. (The builder's own tests cover the download, with a local server.)"""
    assert build(opt).read_bytes() == b"what came"
    assert asked == ["https://raw.githubusercontent.com/erincmer/HUMOD/master/HUMOD_Dataset.TXT"]
    assert SOURCE.archive is None


def test_humod_file_takes_precedence_over_edition(opt: Opt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    for edition in ("full", "sample", "unknown"):
        assert build({**opt, "edition": edition, "humod_file": "a/b.TXT"}) == Path("a/b.TXT")
    assert build({**opt, "humod_file": "~/b.jsonl"}) == Path("/home/somebody/b.jsonl")
    assert build({**opt, "humod_file": "~no_such_user/b"}) == Path("~no_such_user/b")  # the reader reports it
    assert not Path(opt["datapath"]).exists()


# --- the sample ------------------------------------------------------------------------------------------------------


def sample() -> list[Pair]:
    return list(read_humod(SAMPLE))


def test_sample_needs_no_data_folder(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("")
    assert build({"datapath": str(file / "data"), "edition": "sample"}) == SAMPLE


def test_sample_consists_of_one_file() -> None:
    assert [path.name for path in SAMPLE.parent.iterdir()] == ["HUMOD_Dataset.TXT"]


def test_sample_is_printable_ascii() -> None:
    assert set(SAMPLE.read_bytes()) <= {*range(0x20, 0x7F), ord("\n"), ord("\t")}


def test_sample_has_shape_of_full_dataset() -> None:
    """Two pairs per context, three raters per pair, one to six turns before the reply."""
    pairs = sample()
    assert len(pairs) == 240
    assert set(Counter(pair.context for pair in pairs).values()) == {2}
    assert [pair.is_original for pair in pairs] == [True, False] * 120
    assert {len(pair.ratings) for pair in pairs} == {len(pair.human_replies) for pair in pairs} == {3}
    assert {len(pair.context) for pair in pairs} == {1, 2, 3, 4, 5, 6}
    assert len({pair.pair_id for pair in pairs}) == 240


def test_sample_turns_and_human_replies_are_nonempty() -> None:
    for pair in sample():
        assert all(pair.context)
        assert all(pair.human_replies)


def test_sample_true_replies_are_rated_higher() -> None:
    """Otherwise a model could learn nothing from it."""
    means = {kind: [p.mean_rating or 0 for p in sample() if p.is_original == kind] for kind in (True, False)}
    assert sum(means[True]) / 120 > sum(means[False]) / 120 + 1


def test_title_tells_the_sample_from_the_official_file(opt: Opt, fixtures: Path) -> None:
    assert title_of(build(opt | {"edition": "sample"})) == "HUMOD_Dataset.TXT, sample"
    assert title_of(fixtures / "humod" / "HUMOD_Dataset.TXT") == "HUMOD_Dataset.TXT"
