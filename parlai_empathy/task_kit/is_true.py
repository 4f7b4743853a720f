"""Options that are true or false."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlai_empathy.errors import OptionError


def is_true(option: str, opt: Mapping[str, Any], default: bool = False) -> bool:
    """Return whether an option is true, such as ``--dd-drop-overlap``.

    ParlAI does not check options that follow a colon in ``-t``: there, ``dd_drop_overlap=no`` would count as true.

    :raises OptionError: if it is neither true nor false.
    """
    value = opt.get(option.removeprefix("--").replace("-", "_"), default)
    if not isinstance(value, bool):
        raise OptionError(f"{option} {value}: must be true or false")
    return value
