"""The options of resampling: ``--resamples`` and ``--seed``."""

from __future__ import annotations

from parlai.core.opt import Opt

from parlai_empathy.errors import OptionError


def check_samples(opt: Opt) -> None:
    """Raise :class:`OptionError` for an invalid ``--resamples`` or ``--seed``; call it before scoring begins."""
    for name, least in (("resamples", 1), ("seed", 0)):
        if opt[name] < least:
            raise OptionError(f"--{name} {opt[name]}: must be at least {least}")
