"""Locate EPITOME's three files: in the authors' repository, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS, file_name

SOURCE = Source(
    folder="epitome",
    version="1.0",
    archive=None,
    files=tuple(file_name(mechanism) for mechanism in MECHANISMS),
    # Pinned to the commit that added the files, so that later changes have no effect here.
    url="https://raw.githubusercontent.com/behavioral-data/Empathy-Mental-Health/"
    "741a8df4d3bc5301f0426e0c72e1d8e354c42fd3/dataset/",
)
SAMPLE = Path(__file__).parent / "sample"


def build(opt: dict[str, Any]) -> Path:
    """Return the folder of the three files for ``opt["edition"]`` (``full`` or ``sample``)."""
    if is_sample(opt):
        return SAMPLE
    return obtain(opt["datapath"], SOURCE)
