"""What the report that a folder held before wrote beside itself: the next report may not have all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

_WRITTEN = re.compile(r"items\.jsonl|[^/\\\0]+\.png|tables/[^/\\\0]+\.csv")


def remove_former(folder: Path) -> None:
    """Remove the items, the plots and the tables that ``report.json`` in a folder lists as its own, and nothing else.

    :raises OSError: if one of them cannot be removed.
    """
    try:
        files = json.loads((folder / "report.json").read_text(encoding="utf-8"))["files"]
        written = [file for file in files if _WRITTEN.fullmatch(file)]
    except (OSError, ValueError, LookupError, TypeError):
        return  # no report of ours
    for file in written:
        (folder / file).unlink(missing_ok=True)
