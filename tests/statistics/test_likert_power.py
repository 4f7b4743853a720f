"""Power for ratings on a scale: against published tables, a second formula and the limits of the model."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.likert_power import (
    LikertDesign,
    likert_detectable,
    likert_items,
    likert_items_normal,
    likert_power,
)

TWO_SAMPLES = LikertDesign(1.0, paired=False)


@pytest.mark.parametrize(
    ("d", "alpha", "power", "n"),
    [  # Cohen 1988, tables 2.4.1: d .2 and .8 at .80; G*Power's manual and statsmodels give the same integers
        *((0.2, 0.05, 0.8, 394), (0.5, 0.05, 0.8, 64), (0.8, 0.05, 0.8, 26)),
        *((0.5, 0.01, 0.8, 96), (0.5, 0.05, 0.9, 86), (1.0, 0.05, 0.8, 17)),
    ],
)
def test_two_sample_size_matches_published_tables(d: float, alpha: float, power: float, n: int) -> None:
    assert likert_items(TWO_SAMPLES, d, power, alpha) == n
    assert likert_power(TWO_SAMPLES, d, n, alpha) >= power > likert_power(TWO_SAMPLES, d, n - 1, alpha)


@pytest.mark.parametrize(("d", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_paired_sample_size_matches_published_tables(d: float, n: int) -> None:
    """The tables for pairs use the standard deviation of the differences, here sqrt(2) times that of a rating."""
    assert likert_items(LikertDesign(1 / 2**0.5), d) == n


def test_power_matches_numerical_integration() -> None:
    """The t statistic is a normal variable over the root of a chi-squared one: integrate its tails over the latter."""
    n, d, alpha = 20, 0.7, 0.05
    freedom, centre = 2 * n - 2, d / (2 / n) ** 0.5
    critical = stats.t.isf(alpha / 2, freedom)

    def tails(chi: float) -> float:
        at = critical * math.sqrt(chi / freedom)
        return float((stats.norm.sf(at - centre) + stats.norm.cdf(-at - centre)) * stats.chi2.pdf(chi, freedom))

    expected, _ = integrate.quad(tails, 0, 300)
    assert likert_power(TWO_SAMPLES, d, n, alpha) == pytest.approx(expected, abs=1e-7)


def test_normal_approximation_matches_hand_calculation() -> None:
    # (1.959964 + 0.841621)**2 * 2 / 0.5**2
    assert likert_items_normal(TWO_SAMPLES, 0.5) == pytest.approx(62.791, abs=1e-3)
    assert likert_items_normal(LikertDesign(2.0, paired=False), 1.0) == pytest.approx(62.791, abs=1e-3)


def test_standard_error_matches_simulation() -> None:
    """Compare with draws from the model, component by component."""
    design = LikertDesign(1.3, raters=4, same_reply=0.5, same_item=0.2)
    generator = np.random.default_rng(0)
    n = 200_000
    item = generator.normal(0, 0.2**0.5, n)
    systems = [
        item + generator.normal(0, 0.3**0.5, n) + generator.normal(0, 0.5**0.5, (4, n)).mean(axis=0) for _ in range(2)
    ]
    spread = (1.3 * (systems[0] - systems[1])).std()
    assert design.standard_error(1) == pytest.approx(spread, rel=0.01)
    assert design.standard_error(100) == pytest.approx(spread / 10, rel=0.01)


def test_more_raters_help_only_with_independent_variance() -> None:
    def items(raters: int, same_reply: float) -> float:
        return likert_items_normal(LikertDesign(1.0, raters, same_reply, paired=False), 0.3)

    assert items(4, 0.0) == pytest.approx(items(1, 0.0) / 4)  # nothing shared: each rating counts fully
    assert items(4, 1.0) == pytest.approx(items(1, 1.0))  # all shared: the second rater adds nothing
    assert items(1, 0.0) == pytest.approx(items(1, 1.0))  # no difference for single ratings


settled = settings(max_examples=40)


@settled
@given(
    d=st.floats(0.1, 2),
    raters=st.integers(1, 6),
    same=st.floats(0, 0.9),
    share=st.floats(0, 1),
    alpha=st.sampled_from([0.05, 0.01, 0.05 / 15]),
)
def test_detectable_difference_is_consistent_with_items_needed(
    d: float, raters: int, same: float, share: float, alpha: float
) -> None:
    design = LikertDesign(1.1, raters, same, same * share)
    items = likert_items(design, d, 0.8, alpha)
    seen = likert_detectable(design, items, 0.8, alpha)
    assert seen <= d + 1e-6
    assert likert_power(design, seen, items, alpha) == pytest.approx(0.8, abs=1e-6)
    if items > 2:
        assert likert_detectable(design, items - 1, 0.8, alpha) > d - 1e-6


def test_power_at_zero_difference_is_alpha_and_symmetric() -> None:
    assert likert_power(TWO_SAMPLES, 0.0, 30) == pytest.approx(0.05)
    assert likert_power(TWO_SAMPLES, -0.5, 64) == pytest.approx(likert_power(TWO_SAMPLES, 0.5, 64))
    assert likert_power(TWO_SAMPLES, 100.0, 1000) == 1.0


def test_zero_variance_detects_any_difference() -> None:
    same = LikertDesign(1.0, same_reply=1.0, same_item=1.0)
    assert likert_power(same, 0.1, 5) == 1.0
    assert likert_power(same, 0.0, 5) == 0.05
    for call in (likert_detectable, likert_items, likert_items_normal):
        with pytest.raises(NotComputableError, match=r"^any difference is detected: "):
            call(same, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: likert_items(TWO_SAMPLES, 0.0), "no number of items can detect a difference of 0"),
        (lambda: likert_items_normal(TWO_SAMPLES, 0.0), "no number of items can detect a difference of 0"),
        (
            lambda: likert_items(TWO_SAMPLES, 1e-5),
            "more than 1,000,000 items would be needed: the difference is too small to be detected",
        ),
        (lambda: likert_power(TWO_SAMPLES, 0.1, 1), "no power for 1 items: a t test needs at least two"),
        (lambda: likert_detectable(TWO_SAMPLES, 0), "no power for 0 items: a t test needs at least two"),
        (lambda: likert_detectable(TWO_SAMPLES, -1), "no power for -1 items: a t test needs at least two"),
    ],
)
def test_impossible_calculations_raise_error(call: object, message: str) -> None:
    with pytest.raises(NotComputableError, match=f"^{re.escape(message)}$"):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    "call", [lambda: likert_power(TWO_SAMPLES, math.nan, 9), lambda: likert_items(TWO_SAMPLES, math.nan)]
)
def test_difference_that_is_no_number_has_no_power(call: Callable[[], object]) -> None:
    with pytest.raises(OptionError, match=r"^difference nan: must be a number of points$"):
        call()


@pytest.mark.parametrize(
    "options",
    [
        *({"sd": 0.0}, {"sd": -1.0}, {"sd": math.nan}, {"sd": math.inf}, {"sd": 1.0, "raters": 0}),
        *({"sd": 1.0, "same_reply": 1.1}, {"sd": 1.0, "same_item": 0.1}, {"sd": 1.0, "same_reply": -0.1}),
        {"sd": 1.0, "same_reply": 0.5, "same_item": 0.2, "paired": False},
    ],
)
def test_invalid_designs_raise_one_line_error(options: dict[str, float]) -> None:
    with pytest.raises(OptionError) as error:
        LikertDesign(**options)  # type: ignore[arg-type]
    assert len(str(error.value).splitlines()) == 1
