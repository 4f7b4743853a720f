"""The mean of several runs' correlations: against SciPy for each run, and against the interval of a single run."""

from __future__ import annotations

import math
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.correlation import correlation
from parlai_empathy.statistics.correlation_of_runs import correlation_of_runs

PEOPLE = [1.0, 2.5, 3.0, 3.5, 5.0, 4.0]
RUNS = [[0.1, 0.4, 0.3, 0.8, 0.9, 0.7], [0.5, 0.2, 0.6, 0.4, 0.9, 0.1], [3.0, 1.0, 2.0, 5.0, 4.0, 6.0]]


def test_values_mean_best_and_deviation_match_scipy() -> None:
    for kind, theirs in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        values = [theirs(run, PEOPLE).statistic for run in RUNS]
        found = correlation_of_runs(kind, RUNS, PEOPLE, resamples=20)
        assert found.values == pytest.approx(values)
        assert found.mean == pytest.approx(fmean(values))
        assert found.best == pytest.approx(max(values))
        assert found.deviation == pytest.approx(stdev(values))
        assert found.n == 6


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_single_run_matches_plain_correlation(kind: str) -> None:
    found = correlation_of_runs(kind, RUNS[:1], PEOPLE, resamples=50, seed=3)
    alone = correlation(kind, RUNS[0], PEOPLE, resamples=50, seed=3)
    assert (found.mean, found.low, found.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert found.deviation is None


def test_interval_is_of_the_mean_over_runs_on_the_same_items() -> None:
    # The two runs are each other's negatives on the same items: their mean is 0 in each resample.
    found = correlation_of_runs("pearson", [PEOPLE, [-x for x in PEOPLE]], PEOPLE, resamples=30)
    assert (found.mean, found.low, found.high) == pytest.approx((0, 0, 0), abs=1e-12)
    assert found.deviation == pytest.approx(math.sqrt(2))  # of 1 and -1


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3, unique=True))
def test_repeated_identical_runs_match_a_single_run(seeds: list[int]) -> None:
    scores = np.random.default_rng(seeds[0]).normal(size=6).tolist()
    once = correlation_of_runs("spearman", [scores], PEOPLE, resamples=10)
    often = correlation_of_runs("spearman", [scores] * (len(seeds) + 1), PEOPLE, resamples=10)
    assert often.mean == pytest.approx(once.mean)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert often.deviation == pytest.approx(0)


def test_signature_lists_the_settings() -> None:
    found = correlation_of_runs("pearson", RUNS, PEOPLE, resamples=20, seed=4, level=0.9, about="fed")
    assert found.signature.startswith("pearson|set:fed|n:6|runs:3|interval:90%|resamples:20|seed:4|version:")
    assert "set:" not in correlation_of_runs("pearson", RUNS, PEOPLE, resamples=20).signature


@pytest.mark.parametrize(
    ("runs", "people", "message"),
    [
        ([], PEOPLE, "^no correlation: there are no runs; "),
        ([RUNS[0], [1.0] * 6], PEOPLE, "^no correlation: all 6 scores are 1$"),
        ([[1.0, 2.0]], [1.0, 2.0], "^no correlation for 2 items: at least 3 are needed$"),
        ([RUNS[0][:5]], PEOPLE, "^no correlation for 5 scores, 6 ratings: "),
        ([[*RUNS[0][:5], math.nan]], PEOPLE, r"^scores\[5\] is nan: "),
    ],
)
def test_invalid_data_raises_error(runs: list[list[float]], people: list[float], message: str) -> None:
    with pytest.raises(NotComputableError, match=message):
        correlation_of_runs("pearson", runs, people, resamples=5)


def test_invalid_options_raise_option_error() -> None:
    with pytest.raises(OptionError, match=r"^resamples 0: "):
        correlation_of_runs("pearson", RUNS, PEOPLE, resamples=0)
    with pytest.raises(OptionError, match=r"^kind 'rho': "):
        correlation_of_runs("rho", RUNS, PEOPLE)
