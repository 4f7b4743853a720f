"""How many pairs a fold has. ParlAI has to know before it trains; that takes a pass over the dumps, made once."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging

from parlai_empathy.files.whole_file import whole_file


def stored_count(folder: Path, files: Iterable[Path], settings: Any, count: Callable[[], tuple[int, bool]]) -> int:
    """The number that ``count`` gives, from a file in ``folder`` if it was counted before.

    :param files: what is counted: another size or time of change makes the number be counted anew.
    :param settings: all else that the number depends on, as plain data.
    :param count: gives the number, and whether it is that of whole files: another one is not stored, for next time
        more of a file may be read.
    """
    about = {"files": [_about(file) for file in files], "settings": settings}
    path = folder / f"{hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(path.read_text())
        if stored["about"] == about:
            return int(stored["count"])
    logging.info(f"counting the pairs once (stored in {path}); --reddit-epoch-size spares a large dump this pass")
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
