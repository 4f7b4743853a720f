"""Locate the HUMOD file: the one that an option names, the official one, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.files.user_path import user_path
from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample

SOURCE = Source(
    folder="humod",
    version="1.0",
    archive=None,
    files=("HUMOD_Dataset.TXT",),
    url="https://raw.githubusercontent.com/erincmer/HUMOD/master/HUMOD_Dataset.TXT",
    option="--humod-file",
)
SAMPLE = Path(__file__).parent / "sample" / "HUMOD_Dataset.TXT"


def build(opt: dict[str, Any]) -> Path:
    """Return the file to read: ``opt["humod_file"]``, or that of ``opt["edition"]`` (``full`` or ``sample``)."""
    if opt.get("humod_file"):
        return user_path(opt["humod_file"])
    if is_sample(opt):
        return SAMPLE
    return obtain(opt["datapath"], SOURCE) / SOURCE.files[0]


def title_of(path: Path) -> str:
    """Return a file's name for the titles of reports: the sample is called like the official file."""
    return f"{path.name}, sample" if path == SAMPLE else path.name
