"""Paths as users type them."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return the path with ``~`` and ``~user`` at its beginning replaced by the home folder.

    ``~user`` of an unknown user is kept, as by a shell, so that the path is reported like any other that does not
    exist; :meth:`pathlib.Path.expanduser` raises RuntimeError.
    """
    return Path(os.path.expanduser(path))
