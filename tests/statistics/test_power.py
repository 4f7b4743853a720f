"""The checks shared by all power calculations."""

from __future__ import annotations

import pytest

from parlai_empathy.errors import OptionError
from parlai_empathy.statistics.power import check_alpha, check_power


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_alpha_outside_0_and_1_raises_option_error(alpha: float) -> None:
    with pytest.raises(OptionError, match=r"^alpha .*: must lie between 0 and 1, for instance 0.05$"):
        check_alpha(alpha)


@pytest.mark.parametrize("power", [0.05, 1.0, 0.0, float("nan")])
def test_power_outside_alpha_and_1_raises_option_error(power: float) -> None:
    with pytest.raises(OptionError, match=r"^power .*: must lie between alpha \(0.05\) and 1, for instance 0.8$"):
        check_power(power, 0.05)


def test_usual_alpha_and_power_are_accepted() -> None:
    check_alpha(0.05)
    check_power(0.8, 0.05)
