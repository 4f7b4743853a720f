"""The option of all teachers of rated sets: another file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_empathy.files.user_path import user_path
from parlai_empathy.tasks.engagement.sets import set_file

_OPTION = "--engagement-file"


def add_file(group: Any) -> None:
    """Add ``--engagement-file``."""
    group.add_argument(
        _OPTION, type=str, default=None, help="Read this file, in the set's layout, instead of an edition."
    )


def rated_file(name: str, opt: Mapping[str, Any]) -> Path:
    """Return the file that the option names, or else the set's own, downloaded if necessary.

    :param name: one of :data:`parlai_empathy.tasks.engagement.names.SETS`.
    """
    given = opt.get("engagement_file")
    return user_path(given) if given else set_file(name, opt, _OPTION)
