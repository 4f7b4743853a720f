"""The number of turns before the reply in a model's input: options such as ``--ed-history``."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.errors import OptionError

DEFAULT = 4  # turns of both roles, as in Rashkin et al. 2019


def check_history(option: str, size: int) -> int:
    """Return ``size`` if it is a valid number of turns. :param option: its name, for the error message."""
    if type(size) is not int or size == 0 or size < -1:
        raise OptionError(f"{option} {size}: must be at least 1, or -1 for all turns")
    return size


def last_turns(turns: Sequence[str], size: int) -> str:
    """Return the last ``size`` turns, or all for -1, one per line."""
    return "\n".join(turns if size == -1 else turns[-size:])
