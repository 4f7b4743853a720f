"""Power of the exact sign test, compared with enumerating every outcome."""

from __future__ import annotations

import re
from functools import cache

import pytest
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.sign_test_power import (
    sign_test_comparisons,
    sign_test_detectable,
    sign_test_normal,
    sign_test_power,
)


@cache
def rejected(n: int, alpha: float) -> tuple[int, ...]:
    return tuple(wins for wins in range(n + 1) if stats.binomtest(wins, n).pvalue <= alpha)


def by_outcomes(share: float, n: int, alpha: float) -> float:
    return float(sum(stats.binom.pmf(wins, n, share) for wins in rejected(n, alpha)))


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.85, 1.0])
def test_power_matches_enumerated_outcomes(share: float, alpha: float) -> None:
    for n in (1, 2, 5, 6, 7, 20, 33, 60):
        assert sign_test_power(share, n, alpha) == pytest.approx(by_outcomes(share, n, alpha), abs=1e-12)


@pytest.mark.parametrize(("share", "power"), [(0.7, 0.8), (0.8, 0.9), (0.9, 0.8), (1.0, 0.8), (0.3, 0.8), (0.6, 0.055)])
def test_comparisons_needed_is_smallest_number_that_keeps_the_power(share: float, power: float) -> None:
    n = sign_test_comparisons(share, power)
    assert by_outcomes(share, n - 1, 0.05) < power
    assert all(by_outcomes(share, more, 0.05) >= power for more in range(n, n + 25))


def test_large_number_of_comparisons_is_near_normal_approximation() -> None:
    """Near the normal approximation's 194 for .6, and not below it."""
    assert sign_test_normal(0.6) == pytest.approx(193.85, abs=0.01)  # ((1.96 * .5 + .8416 * .4899) / .1)**2
    n = sign_test_comparisons(0.6)
    assert 194 <= n <= 215
    assert sign_test_power(0.6, n - 1) < 0.8 <= min(sign_test_power(0.6, more) for more in range(n, n + 200))


def test_detectable_share_reaches_the_power_or_raises_error() -> None:
    share = sign_test_detectable(100)
    assert sign_test_power(share, 100) == pytest.approx(0.8, abs=1e-6)
    assert sign_test_detectable(400) < share
    # Six wins of six have p = 1/32 and are significant; five of five have 1/16.
    assert sign_test_detectable(6) == pytest.approx(0.8 ** (1 / 6), abs=1e-3)
    with pytest.raises(
        NotComputableError, match=r"^5 decided comparisons can detect nothing at alpha 0.05: more are needed$"
    ):
        sign_test_detectable(5)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: sign_test_comparisons(0.5),
            NotComputableError,
            "no number of comparisons can detect a share of 0.5: neither side is preferred",
        ),
        (
            lambda: sign_test_comparisons(0.5001),
            NotComputableError,
            "more than 100,000 comparisons would be needed for a share of 0.5001",
        ),
        (lambda: sign_test_power(0.6, 0), NotComputableError, "no power for 0 comparisons: at least one is needed"),
        (lambda: sign_test_detectable(0), NotComputableError, "no power for 0 comparisons: at least one is needed"),
        (lambda: sign_test_power(1.2, 9), OptionError, "win rate 1.2: must lie between 0 and 1, ties left out"),
        (lambda: sign_test_comparisons(-0.1), OptionError, "win rate -0.1: must lie between 0 and 1, ties left out"),
    ],
)
def test_impossible_calculations_raise_error(call: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        call()  # type: ignore[operator]
