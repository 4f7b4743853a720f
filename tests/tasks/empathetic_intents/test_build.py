"""Where the files of EmpatheticIntents come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from parlai.core.opt import Opt

from parlai_empathy.errors import DownloadError
from parlai_empathy.task_kit.builder import sha256_of_all
from parlai_empathy.tasks.empathetic_intents.build import SAMPLE, SOURCE, build

OneLine = Callable[..., None]
MirrorOf = Callable[[Path, str], Path]


def test_sample_contains_all_source_files(opt: Opt) -> None:
    assert build({**opt, "edition": "sample"}) == SAMPLE
    assert all((SAMPLE / file).is_file() for file in SOURCE.files)


def test_build_keeps_folder_layout_of_mirror(opt: Opt, mirror_of: MirrorOf) -> None:
    mirror_of(SAMPLE, "empathetic_intents")
    home = build(opt)
    assert {str(path.relative_to(home)) for path in home.rglob("*.txt")} == set(SOURCE.files)
    assert (home / "test/wishing.txt").read_text() == (SAMPLE / "test/wishing.txt").read_text()


def test_missing_mirror_file_raises_download_error(opt: Opt, mirror_of: MirrorOf, assert_one_line: OneLine) -> None:
    (mirror_of(SAMPLE, "empathetic_intents") / "validation" / "neutral.txt").unlink()
    with pytest.raises(DownloadError) as caught:
        build(opt)
    assert_one_line(caught.value, "validation/neutral.txt", "EMPATHY_MIRROR")


def test_checksum_matches_full_dataset(real_data: Path) -> None:
    assert sha256_of_all(real_data / "empathetic_intents", SOURCE.files) == SOURCE.sha256
