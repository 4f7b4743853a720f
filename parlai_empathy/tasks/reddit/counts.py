"""The number of pairs in a fold, which ParlAI must know before it trains: counted in one pass and then cached."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.files.whole_file import whole_file

_CODE = Path(__file__).parent
"""The folder of the code that reads dumps: another version of it may find other pairs."""


def stored_count(folder: Path, files: Iterable[Path], settings: Any, count: Callable[[], tuple[int, bool]]) -> int:
    """Return the result of ``count``, from a cache file in ``folder`` if it was counted before, by the same code.

    :param files: the files to count; if the size or modification time of one changes, they are counted again.
    :param settings: everything else that the number depends on, as JSON-serialisable data.
    :param count: returns the number, and whether all files were read completely. If not, the number is not cached,
        because more may be readable next time.
    """
    about = {"files": [_about(file) for file in files], "settings": settings, "code": _digest_of(_CODE)}
    path = folder / f"{hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(path.read_text())
        if stored["about"] == about:
            return int(stored["count"])
    logging.info(f"counting the pairs once (stored in {path}); --reddit-epoch-size avoids this pass for a large dump")
    number, is_whole = count()
    if not is_whole:
        return number
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, is_shared=True) as unfinished:
            unfinished.write_text(json.dumps({"about": about, "count": number}))
    except OSError as error:
        logging.warning(f"{path} cannot be written ({error.strerror}): the pairs will be counted again next time")
    return number


def _about(file: Path) -> list[str | int]:
    status = file.stat()
    return [str(file.resolve()), status.st_size, status.st_mtime_ns]


def _digest_of(folder: Path) -> str:
    modules = sorted(folder.glob("*.py"))
    return hashlib.sha256(b"".join(module.read_bytes() for module in modules)).hexdigest()
