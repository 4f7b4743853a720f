"""Locate GoEmotions' three files: in the authors' repository, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample
from parlai_empathy.tasks.go_emotions.reader import FILES

# Many projects share the repository, which changes daily: only the SHA-256 of the files is verified.
SOURCE = Source(
    folder="goemotions",
    version="1.0",
    archive=None,
    files=tuple(FILES.values()),
    url="https://raw.githubusercontent.com/google-research/google-research/master/goemotions/data/",
    sha256="1927328f67071c4b684102720e5de4bc2ce95a28a49735f63915678cf908fbda",
)
SAMPLE = Path(__file__).parent / "sample"


def build(opt: dict[str, Any]) -> Path:
    """Return the folder of the three files for ``opt["edition"]`` (``full`` or ``sample``)."""
    return SAMPLE if is_sample(opt) else obtain(opt["datapath"], SOURCE)
