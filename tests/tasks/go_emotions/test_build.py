"""Where the files of GoEmotions come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.task_kit.builder import sha256_of_all
from parlai_empathy.tasks.go_emotions.build import SAMPLE, SOURCE, build

OneLine = Callable[..., None]
MirrorOf = Callable[[Path, str], Path]


def test_sample_is_in_the_package(opt: Opt) -> None:
    assert build({**opt, "edition": "sample"}) == SAMPLE
    assert all((SAMPLE / file).is_file() for file in SOURCE.files)


def test_build_from_mirror(opt: Opt, mirror_of: MirrorOf) -> None:
    mirror_of(SAMPLE, "goemotions")
    home = build(opt)
    assert (home / "dev.tsv").read_text(encoding="utf-8") == (SAMPLE / "dev.tsv").read_text(encoding="utf-8")


def test_mirror_lacking_a_file_raises_download_error(opt: Opt, mirror_of: MirrorOf, assert_one_line: OneLine) -> None:
    (mirror_of(SAMPLE, "goemotions") / "test.tsv").unlink()
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, "goemotions/test.tsv", "EMPATHY_MIRROR")


def test_checksum_matches_the_real_files(real_data: Path) -> None:
    assert sha256_of_all(real_data / "goemotions", SOURCE.files) == SOURCE.sha256
