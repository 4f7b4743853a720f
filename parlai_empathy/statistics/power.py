"""Checks of power and significance level, for all power analyses."""

from __future__ import annotations

from parlai_empathy.errors import OptionError


def check_alpha(alpha: float) -> None:
    """Check alpha, the probability of detecting a difference where there is none.

    :raises OptionError: if it does not lie between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise OptionError(f"alpha {alpha:g}: must lie between 0 and 1, for instance 0.05")


def check_power(power: float, alpha: float) -> None:
    """Check power, the probability of detecting a difference that exists.

    :raises OptionError: if it does not lie between alpha, the level of chance, and 1.
    """
    check_alpha(alpha)
    if not alpha < power < 1:
        raise OptionError(f"power {power:g}: must lie between alpha ({alpha:g}) and 1, for instance 0.8")
