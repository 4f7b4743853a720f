"""Where EPITOME's three files are: the authors' repository, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.tasks.builder import Source, obtain
from parlai_empathy.tasks.edition import is_sample
from parlai_empathy.tasks.epitome.mechanisms import MECHANISMS, file_name

SOURCE = Source(
    folder="epitome",
    version="1.0",
    archive=None,
    files=tuple(file_name(mechanism) for mechanism in MECHANISMS),
    # The commit that brought the files, so that a later change of theirs changes nothing here.
    url="https://raw.githubusercontent.com/behavioral-data/Empathy-Mental-Health/"
    "741a8df4d3bc5301f0426e0c72e1d8e354c42fd3/dataset/",
)
SAMPLE = Path(__file__).parent / "sample"


def build(opt: dict[str, Any]) -> Path:
    """The folder of the three files, by ``opt["edition"]`` (``full`` or ``sample``)."""
    if is_sample(opt):
        return SAMPLE
    return obtain(opt["datapath"], SOURCE)
