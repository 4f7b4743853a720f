"""Identifies the version of a model, so that a model that changed under the same name gets no stale cached answers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

_SAMPLE = 65_536


def model_identity(name: str, config: Any) -> str:
    """Return a short digest of a model folder's files, or the hub's commit hash; empty if neither is known.

    The digest covers each file's name, size, first and last 64 KiB. Training changes the last weights too, and reading
    gigabytes would take longer than answering.

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
