"""Where the training files of Predictive Engagement come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from parlai.core.opt import Opt

from parlai_empathy.tasks.engagement.build import CONVAI, REPOSITORY, build_convai, build_repository
from parlai_empathy.tasks.engagement.sets import SAMPLE


def test_sample_is_in_the_package(tmp_path: Path) -> None:
    opt = {"datapath": str(tmp_path), "edition": "sample"}
    assert all((build_repository(opt) / file).is_file() for file in REPOSITORY.files)
    assert build_convai(opt).is_file()


def test_build_from_mirror(opt: Opt, mirror_of: Callable[[Path, str], Path]) -> None:
    mirror_of(SAMPLE, "engagement")
    assert {path.name for path in build_repository(opt).iterdir() if path.suffix} >= set(REPOSITORY.files)
    assert build_convai(opt).read_bytes() == (SAMPLE / CONVAI.files[0]).read_bytes()
