"""Sums of means, derived by hand."""

from __future__ import annotations

import pytest

from parlai_empathy.metrics.means import SumOfMeans


def test_means_are_over_all_that_was_added() -> None:
    # 5 / 3 and 2 / 4; the sum of the parts' means, 1 / 1 + 2 / 2 and 4 / 2 + 0, would be 4.
    both = SumOfMeans([1.0, 2.0], [1, 2]) + SumOfMeans([4.0, 0.0], [2, 2])
    assert both.means.tolist() == pytest.approx([5 / 3, 0.5])
    assert float(both) == pytest.approx(5 / 3 + 0.5)


def test_terms_of_a_sum_stay_as_they_were() -> None:
    one = SumOfMeans([1.0], [1])
    _ = one + SumOfMeans([3.0], [1])
    assert float(one) == 1.0


def test_mean_of_nothing_counts_as_zero() -> None:
    assert float(SumOfMeans([3.0, 0.0], [2, 0])) == 1.5


def test_no_other_metric_adds_nothing() -> None:
    one = SumOfMeans([1.0], [2])
    assert one + None is one
    assert one.macro_average
