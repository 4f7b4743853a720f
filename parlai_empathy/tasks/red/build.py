"""Locate RED: a given file, the one that ``parlai curate_red`` made, or the sample in this package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_empathy.errors import DownloadError
from parlai_empathy.files.user_path import user_path
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.red.reader import PARQUET

SAMPLE = Path(__file__).parent / "sample" / "red.jsonl"
REPOSITORY = "https://github.com/gxxu-ml/EnDex"


def build(opt: Mapping[str, Any]) -> Path:
    """Return the file or folder to read: ``opt["red_file"]``, or that of ``opt["edition"]`` (``full`` or ``sample``).

    :raises DownloadError: if it does not exist, or is in a folder without access. RED cannot be downloaded
        automatically.
    """
    try:
        return _build(opt)
    except OSError as error:
        raise DownloadError(
            f"{error.filename} cannot be read ({error.strerror}): name another file or folder with --red-file"
        ) from error


def _build(opt: Mapping[str, Any]) -> Path:
    if given := opt.get("red_file"):
        path = user_path(given)
        if not path.exists():
            raise DownloadError(f"--red-file {given}: there is no such file or folder: check its name")
        return path
    if is_sample(opt):
        return SAMPLE
    path = Path(opt["datapath"]) / "red" / PARQUET
    if not path.is_file():
        raise DownloadError(
            f"{path} does not exist: make it with `parlai curate_red`, or download the file that {REPOSITORY} links to "
            "and name it with --red-file"
        )
    return path
