"""``--edition``: the full data set, or the small sample in its layout that ships with this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai_empathy.errors import OptionError

EDITIONS = ("full", "sample")


def add_edition(group: Any) -> None:
    """Add the option to an argument group of ParlAI's parser."""
    group.add_argument(
        "--edition",
        choices=list(EDITIONS),
        default="full",
        help="The full data set, or the small sample in its layout that ships with this package.",
    )


def is_sample(opt: Mapping[str, Any]) -> bool:
    """Whether ``opt`` selects the sample. Raises :class:`OptionError` for an unknown edition."""
    edition = opt.get("edition", "full")
    if edition not in EDITIONS:  # ParlAI does not check options that follow a colon in -t
        raise OptionError(f"--edition {edition}: must be full or sample")
    return bool(edition == "sample")
