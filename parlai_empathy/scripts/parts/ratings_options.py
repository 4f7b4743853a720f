"""Options of the commands that read a file of ratings."""

from __future__ import annotations

import math
from argparse import _ArgumentGroup
from collections.abc import Sequence

from parlai_empathy.errors import OptionError


def add_ratings(group: _ArgumentGroup) -> None:
    """Add ``--ratings``, ``--scale`` and ``--skip-bad-rows``."""
    group.add_argument(
        "--ratings",
        default=None,
        help="A .csv or .jsonl file with the columns item, rater, rating and optionally question, "
        "system, other and more.",
    )
    group.add_argument(
        "--scale",
        nargs="*",
        type=float,
        default=None,
        help="All values that a rating can have, except in comparisons; by default, those that occur.",
    )
    add_skip_bad_rows(group)


def add_skip_bad_rows(group: _ArgumentGroup) -> None:
    """Add ``--skip-bad-rows``."""
    group.add_argument(
        "--skip-bad-rows",
        type="bool",
        default=False,
        help="Leave out and report invalid rows; otherwise the first one ends the command.",
    )


def check_scale(scale: Sequence[float] | None) -> None:
    """Check ``--scale``.

    :raises OptionError: if it has fewer than two different values, or one that is not finite.
    """
    if wrong := [value for value in scale or () if not math.isfinite(value)]:
        raise OptionError(f"--scale {wrong[0]}: a rating cannot have this value: name finite numbers")
    if scale is not None and len(set(scale)) < 2:
        raise OptionError("--scale: name at least two different values, for instance --scale 1 2 3 4 5")
