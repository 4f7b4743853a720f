"""The option that all teachers of rated sets have: another file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_empathy.tasks.engagement.sets import set_file


def add_file(group: Any) -> None:
    """Add where a set's file is."""
    group.add_argument(
        "--engagement-file", type=str, default=None, help="Read this file, in the set's layout, instead of an edition."
    )


def rated_file(name: str, opt: Mapping[str, Any]) -> Path:
    """The file that is named, or else the set's own, brought here if need be.

    :param name: one of :data:`parlai_empathy.tasks.engagement.names.SETS`.
    """
    given = opt.get("engagement_file")
    return Path(given).expanduser() if given else set_file(name, opt)
