"""Static files that pages load: styles, scripts and icons. They are read once; no other file can be requested."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PREFIX = "/static/"


class StaticFile(NamedTuple):
    """A static file.

    :param address: contains a digest of the content, so that browsers may cache the file forever.
    """

    address: str
    content: bytes
    kind: str


def static_files(folders: Iterable[Path]) -> dict[str, StaticFile]:
    """Return the files of all folders by name; a later folder's file overrides an earlier one of the same name."""
    found = (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()) if path.is_file())
    return {path.name: _static_file(path) for path in found}


def _static_file(path: Path) -> StaticFile:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:12]
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if kind.startswith("text/") else ""
    return StaticFile(f"{PREFIX}{digest}/{path.name}", content, kind + charset)
