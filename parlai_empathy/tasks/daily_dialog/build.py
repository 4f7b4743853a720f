"""Locate DailyDialog's files: in the authors' archive, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai.core.build_data import DownloadableFile

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample

SPLITS = {"train": "train", "valid": "validation", "test": "test"}
"""ParlAI's names of the folds, and the authors'."""

# The authors publish no checksum: this is the one that Hugging Face's `datasets` recorded for the same URL.
ARCHIVE = DownloadableFile(
    "http://yanran.li/files/ijcnlp_dailydialog.zip",
    "ijcnlp_dailydialog.zip",
    "c641e88cbf21fd7c1b57289387f9107d33fe8685a2b37fe8066b82776535ea89",
)
SOURCE = Source(
    folder="dailydialog",
    version="1.0",
    archive=ARCHIVE,
    files=tuple(f"ijcnlp_dailydialog/{split}.zip" for split in SPLITS.values()),
    home="daily_dialog",
)
SAMPLE = Path(__file__).parent / "sample"


def build(opt: dict[str, Any]) -> dict[str, Path]:
    """Return each fold's zip file or folder for ``opt["edition"]`` (``full`` or ``sample``)."""
    if is_sample(opt):
        return {fold: SAMPLE / split for fold, split in SPLITS.items()}
    home = obtain(opt["datapath"], SOURCE)
    return {fold: home / "ijcnlp_dailydialog" / f"{split}.zip" for fold, split in SPLITS.items()}
