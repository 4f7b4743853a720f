"""What every question about power has: how probably a difference is to be seen, and how probably one that is none."""

from __future__ import annotations

from parlai_empathy.errors import OptionError


def check_alpha(alpha: float) -> None:
    """See that alpha is the probability of seeing a difference where there is none.

    :raises OptionError: if it does not lie between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise OptionError(f"alpha {alpha:g}: must lie between 0 and 1, for instance 0.05")


def check_power(power: float, alpha: float) -> None:
    """See that power is the probability of seeing a difference that is there.

    :raises OptionError: if it does not lie between alpha, which chance alone gives, and 1.
    """
    check_alpha(alpha)
    if not alpha < power < 1:
        raise OptionError(f"power {power:g}: must lie between alpha ({alpha:g}) and 1, for instance 0.8")
