"""Identifies the version of a model, so that a model that changed under the same name gets no stale cached answers."""

from __future__ import annotations

import hashlib
from typing import Any

from parlai_empathy.files.user_path import user_path

_BLOCK = 4096
_BLOCKS = 1024
# A cache of answers, which changes with each of them, may lie in the model's folder; no model has SQLite files.
_SQLITE = b"SQLite format 3\0"
_JOURNAL = "-journal"


def model_identity(name: str, config: Any) -> str:
    """Return a short digest of a model folder's files, or the hub's commit hash; empty if neither is known.

    The digest covers each file's name, size and content; of a file above 4 MiB, a thousand blocks spread over all of
    it. Training may change some layers alone, and reading gigabytes would take longer than answering.

    :param config: the model's Hugging Face configuration.
    """
    folder = user_path(name)
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", None) or "")
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        size = path.stat().st_size
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE or path.name.endswith(_JOURNAL):
                continue
            digest.update(f"{path.name} {size} ".encode())
            for place in (*range(0, size, max(_BLOCK, size // _BLOCKS)), max(0, size - _BLOCK)):
                file.seek(place)
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()[:16]
