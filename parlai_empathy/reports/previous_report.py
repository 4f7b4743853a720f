"""Removes a folder's former report, or those of its files that the next report may not overwrite."""

from __future__ import annotations

import json
import re
from pathlib import Path

from parlai_empathy.files.turns import own_turn

_WRITTEN = re.compile(r"items\.jsonl|[^/\\\0]+\.png|tables/[^/\\\0]+\.csv")


def remove_report(folder: Path) -> None:
    """Remove a report from an existing folder.

    :raises OSError: if a file cannot be removed.
    """
    with own_turn(folder):
        remove_previous(folder)
        for name in ("report.md", "report.html", "report.json"):
            (folder / name).unlink(missing_ok=True)


def remove_previous(folder: Path) -> None:
    """Remove the items, plots and tables that the folder's ``report.json`` lists, and before them this file itself.

    It would say that the report is whole if the process were killed meanwhile. Nothing else is removed.

    :raises OSError: if one of them cannot be removed.
    """
    try:
        files = json.loads((folder / "report.json").read_text(encoding="utf-8"))["files"]
        written = [file for file in files if _WRITTEN.fullmatch(file)]
    except (OSError, ValueError, LookupError, TypeError):
        return  # not one of our reports
    for file in ("report.json", *written) if written else ():
        (folder / file).unlink(missing_ok=True)
