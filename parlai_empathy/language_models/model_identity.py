"""Tells two states of a model apart that have the same name, so that the one is not answered from the other's cache."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

_SAMPLE = 65_536


def model_identity(name: str, config: Any) -> str:
    """A short digest of a folder's files, or the hub's own name for the model's version; empty if there is none.

    Of each file it takes name, size, and both ends: a training changes the last weights too, and reading gigabytes
    would take longer than answering.

    :param config: the model's Hugging Face configuration.
    """
    folder = Path(name)
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", None) or "")
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.name} {size} ".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE))
            file.seek(max(0, size - _SAMPLE))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:16]
