"""Where EPITOME's files are: the authors' repository, a mirror, or the sample in this package."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.tasks.epitome.build import SAMPLE, build
from parlai_empathy.tasks.epitome.mechanisms import LEVELS, MECHANISMS, file_name
from parlai_empathy.tasks.epitome.reader import read_epitome

OneLine = Callable[..., None]


@pytest.fixture
def mirror(mirror_of: Callable[[Path, str], Path]) -> Path:
    """A mirror that holds the sample's files under the official names."""
    return mirror_of(SAMPLE, "epitome")


def test_build_fetches_files_from_mirror(opt: Opt, mirror: Path) -> None:
    found = build(opt)
    assert found == Path(opt["datapath"]) / "epitome"
    assert list(read_epitome(found)) == list(read_epitome(mirror))
    shutil.rmtree(mirror)
    assert build(opt) == found  # already built


def test_missing_mirror_file_raises_error_and_leaves_no_folder(
    opt: Opt, mirror: Path, assert_one_line: OneLine
) -> None:
    (mirror / file_name("explorations")).unlink()
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, mirror / "explorations-reddit.csv", "EMPATHY_MIRROR must hold epitome/{")
    assert not (Path(opt["datapath"]) / "epitome").exists()


def test_build_downloads_from_authors_repository_without_mirror(opt: Opt, asked: list[str]) -> None:
    build(opt)
    address = r"https://raw\.githubusercontent\.com/behavioral-data/Empathy-Mental-Health/[0-9a-f]{40}/dataset/"
    names = [re.fullmatch(rf"{address}([\w-]+\.csv)", url) for url in asked]
    assert [name and name[1] for name in names] == [file_name(mechanism) for mechanism in MECHANISMS]


def test_sample_covers_all_levels_and_all_its_quotations_are_found() -> None:
    pairs = list(read_epitome(build({"edition": "sample"})))
    for mechanism in MECHANISMS:
        counts = Counter(pair.levels[mechanism] for pair in pairs)
        assert min(counts[level] for level in LEVELS) >= 10
        assert all(bool(pair.rationales[mechanism]) == (pair.levels[mechanism] > 0) for pair in pairs)
    assert not any(pair.lost for pair in pairs)
