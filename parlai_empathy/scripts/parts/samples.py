"""The options that decide about chance: how many samples are drawn, and which."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError


def check_samples(opt: Opt) -> None:
    """Raise :class:`OptionError` if ``--resamples`` or ``--seed`` cannot work: at once, not when all is scored."""
    for name, least in (("resamples", 1), ("seed", 0)):
        if opt[name] < least:
            raise OptionError(f"--{name} {opt[name]}: must be at least {least}")
