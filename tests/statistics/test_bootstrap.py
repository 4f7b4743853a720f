"""The bootstrap: which indices are drawn, what its intervals contain, and when there is no interval."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import bootstrap, expanded_interval, interval_of, percentile_interval


def test_bootstrap_draws_indices_with_replacement() -> None:
    seen: list[NDArray[np.intp]] = []
    values = bootstrap(lambda drawn: float(seen.append(drawn) or drawn.mean()), n=4, resamples=200, seed=1)
    assert values.tolist() == [drawn.mean() for drawn in seen]
    assert {len(drawn) for drawn in seen} == {4}
    assert {place for drawn in seen for place in drawn.tolist()} == {0, 1, 2, 3}
    assert any(len(set(drawn.tolist())) < 4 for drawn in seen)
    assert len({tuple(drawn.tolist()) for drawn in seen}) > 100  # of 256 possible resamples


def test_percentile_interval_matches_hand_calculation() -> None:
    # 101 values 0..100: at a level of 90 %, 5 % of them lie below 5 and 5 % above 95.
    assert percentile_interval(np.arange(101.0)[::-1], 0.9) == pytest.approx((5, 95))


@pytest.mark.parametrize("level", [0, 1, 95])
def test_level_outside_0_to_1_raises_option_error(level: float) -> None:
    with pytest.raises(OptionError, match=rf"^level {level}: must lie between 0 and 1, for instance 0\.95$"):
        percentile_interval(np.arange(101.0), level)


def test_expanded_interval_matches_hand_calculation() -> None:
    # For ten items, Student's quantile with nine degrees of freedom is 2.262157; times sqrt(10 / 9) it is 2.384519,
    # beyond which a normal distribution has .8551 %.
    assert expanded_interval(np.arange(100_001.0)[::-1], 10) == pytest.approx((855, 99_145), abs=1)
    many = np.random.default_rng(0).normal(size=1000)
    assert expanded_interval(many, 10**6, 0.9) == pytest.approx(percentile_interval(many, 0.9), abs=1e-4)
    assert expanded_interval(many, 2) == pytest.approx((many.min(), many.max()))


@pytest.mark.parametrize(("n", "narrow"), [(8, 0.91), (10, 0.92), (20, 0.94)])
def test_expanded_interval_has_nominal_coverage_for_small_samples(n: int, narrow: float) -> None:
    """The coverage estimated from 2,000 samples has a standard deviation of .005."""
    generator = np.random.default_rng(n)
    inside = {expanded_interval: 0, percentile_interval: 0}
    for sample in generator.normal(size=(2000, n)):
        drawn = sample[generator.integers(n, size=(400, n))].mean(axis=1)
        expanded, plain = expanded_interval(drawn, n), percentile_interval(drawn)
        inside[expanded_interval] += expanded[0] <= 0 <= expanded[1]
        inside[percentile_interval] += plain[0] <= 0 <= plain[1]
    assert 0.93 * 2000 <= inside[expanded_interval] <= 0.965 * 2000
    assert inside[percentile_interval] < narrow * 2000


def test_interval_is_expanded_only_for_means() -> None:
    # 2.5 % of 0..1000 at each end, or for means of ten items .8551 %.
    values = np.arange(1001.0)
    assert interval_of(values, 10, of_means=False) == pytest.approx((25, 975))
    assert interval_of(values, 10, of_means=True) == pytest.approx((8.551, 991.449), abs=1e-3)


@pytest.mark.parametrize("of_means", [True, False])
def test_equal_resamples_have_no_interval(of_means: bool) -> None:
    """An interval from .6 to .6 would say that there is no doubt."""
    sums = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1])
    assert sums[0] != sums[1], "they differ in their last digits"
    message = r"no interval: all resamples give 0\.6: values that differ are needed"
    with pytest.raises(NotComputableError, match=f"^{message}$"):
        interval_of(sums, 5, of_means)


def test_half_of_the_resamples_is_enough() -> None:
    def usable(count: int) -> int:
        rest = iter(range(10))

        def statistic(drawn: NDArray[np.intp]) -> float:
            if next(rest) >= count:
                raise NotComputableError("no more")
            return 1.0

        return len(bootstrap(statistic, n=3, resamples=10, seed=0))

    assert usable(5) == 5
    with pytest.raises(NotComputableError, match=r"^no interval: only 4 of 10 resamples could be used "):
        usable(4)


def test_too_few_usable_resamples_raise_error() -> None:
    def sometimes(drawn: NDArray[np.intp]) -> float:
        if 0 in drawn:
            raise NotComputableError("not with this one")
        return 1.0

    # A given item of 10 is in 1 - .9^10 = 65 % of the resamples.
    message = (
        r"no interval: only \d+ of 100 resamples could be used \(of another: not with this one\): more data are needed"
    )
    with pytest.raises(NotComputableError, match=f"^{message}$"):
        bootstrap(sometimes, n=10, resamples=100, seed=0)
    # With one item, every resample contains it.
    assert bootstrap(lambda drawn: 2.0, n=1, resamples=4, seed=0).tolist() == [2.0] * 4
