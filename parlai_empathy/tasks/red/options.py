"""The options of RED's teachers, and their valid values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from parlai_empathy.errors import OptionError
from parlai_empathy.task_kit.is_true import is_true
from parlai_empathy.tasks.red.records import DIMENSIONS


def add_file(group: Any) -> None:
    """Add ``--red-file``."""
    group.add_argument(
        "--red-file",
        type=str,
        default=None,
        help="RED: the .parquet file of `parlai curate_red` or the folder that holds it, or the authors' .csv, .tsv or "
        ".jsonl. Without it, <datapath>/red/red.parquet.",
    )


def add_context(group: Any) -> None:
    """Add ``--red-context``."""
    group.add_argument(
        "--red-context",
        type="bool",
        default=True,
        help="Put the parent of the post before it, as a line of its own; false: only the post.",
    )


def add_dimension(group: Any) -> None:
    """Add ``--red-dimension`` and ``--red-kappa``, for teachers of one dimension."""
    group.add_argument(
        "--red-dimension", choices=list(DIMENSIONS), default="ee", help="The dimension that decides the label."
    )
    group.add_argument(
        "--red-kappa",
        type=float,
        default=1.0,
        help="How many standard deviations from the mean a post must be; posts closer to it are left out.",
    )


def with_context(opt: Mapping[str, Any]) -> bool:
    """Return ``--red-context``."""
    return is_true("--red-context", opt, default=True)


def dimension_of(opt: Mapping[str, Any]) -> str:
    """Return ``--red-dimension``, one of the four."""
    value = opt.get("red_dimension", "ee")
    if value not in DIMENSIONS:
        raise OptionError(f"--red-dimension {value}: must be one of {', '.join(DIMENSIONS)}")
    return str(value)


def kappa_of(opt: Mapping[str, Any]) -> float:
    """Return ``--red-kappa``, at least 0."""
    value = opt.get("red_kappa", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise OptionError(f"--red-kappa {value}: must be a number, at least 0")
    return float(value)
