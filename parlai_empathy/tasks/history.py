"""How many turns before the reply a model is given: options such as ``--ed-history``."""

from __future__ import annotations

from collections.abc import Sequence

from parlai_empathy.errors import OptionError

DEFAULT = 4  # what Rashkin et al. 2019 give their models, both roles counted


def check_history(option: str, size: int) -> int:
    """``size``, if it can be a number of turns. :param option: its name, for the error."""
    if not isinstance(size, int) or size == 0 or size < -1:
        raise OptionError(f"{option} {size}: must be at least 1, or -1 for all turns")
    return size


def last_turns(turns: Sequence[str], size: int) -> str:
    """The last ``size`` turns, or all for -1, one a line."""
    return "\n".join(turns if size == -1 else turns[-size:])
