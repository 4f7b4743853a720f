"""Locate 20 Newsgroups' archive: the official one, or the sample in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlai_empathy.task_kit.builder import Source, obtain
from parlai_empathy.task_kit.edition import is_sample

# The archive is not unpacked, as it has 19,997 small files. Its publisher gives no checksum: this is the one that
# Hugging Face's `datasets` recorded for the same URL.
SOURCE = Source(
    folder="20newsgroups",
    version="1.0",
    archive=None,
    files=("20_newsgroups_19997.tar.gz",),
    url="http://qwone.com/~jason/20Newsgroups/20news-19997.tar.gz",
    sha256="ab7bbf82b7831f7dbb1a09d9312f66fa78565c8de25526999b0d66f69d37e414",
)
SAMPLE = Path(__file__).parent / "sample" / "20_newsgroups"


def build(opt: dict[str, Any]) -> Path:
    """Return the archive to read, or the sample's folder, for ``opt["edition"]`` (``full`` or ``sample``)."""
    if is_sample(opt):
        return SAMPLE
    return obtain(opt["datapath"], SOURCE) / SOURCE.files[0]
