"""Locate the EmpatheticDialogues files: in ParlAI's own folder, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.build_data import DownloadableFile

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample

FOLDS = ("train", "valid", "test")

# Folder, version and archive are those of ParlAI's built-in task, so that each finds what the other has built.
RESOURCES = [
    DownloadableFile(
        "http://parl.ai/downloads/empatheticdialogues/empatheticdialogues.tar.gz",
        "empatheticdialogues.tar.gz",
        "56f234d77b7dd1f005fd365bb17769cfe346c3c84295b69bc069c8ccb83be03d",
    )
]
SOURCE = Source(
    folder="empatheticdialogues",
    version="1.0",
    archive=RESOURCES[0],
    files=tuple(f"empatheticdialogues/{fold}.csv" for fold in FOLDS),
)
SAMPLE = Path(__file__).parent / "sample"


def build(opt: dict[str, Any]) -> Path:
    """Return the folder of ``train.csv``, ``valid.csv`` and ``test.csv`` for ``opt["edition"]``: full or sample."""
    if is_sample(opt):
        return SAMPLE
    return obtain(opt["datapath"], SOURCE) / "empatheticdialogues"
