"""Permutation test of whether two samples have the same mean, without assumptions about their distribution.

If it is irrelevant which sample a value belongs to, values can be reassigned at random. The p-value is the share of
reassignments whose means are at least as far apart (Fisher 1935). For pairs see
:mod:`parlai_empathy.statistics.paired`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parlai_empathy.errors import NotComputableError, OptionError
from parlai_empathy.statistics.bootstrap import Floats
from parlai_empathy.statistics.finite import finite_columns


def permutation_p_value(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, resamples: int = 1000, seed: int = 0
) -> float:
    """Return the two-sided p-value against no difference of means, above 0 and at most 1.

    :param resamples: number of random reassignments. The observed assignment counts as one more.
    :raises NotComputableError: if a sample has fewer than two values, or one that is not finite.
    """
    if resamples < 1:
        raise OptionError(f"resamples {resamples}: must be at least 1")
    if len(first) < 2 or len(second) < 2:
        raise NotComputableError(f"no test for {len(first)} and {len(second)} values: each side needs at least two")
    values = np.concatenate(finite_columns(first=first, second=second))
    generator = np.random.default_rng(seed)
    n, whole = len(first), float(values.sum())

    def apart(total: float) -> float:
        """Return the distance of the means, given the sum of the first sample."""
        return abs(total / n - (whole - total) / (len(values) - n))

    # Sums in a different order may differ in their last digits.
    least = apart(float(values[:n].sum())) - 1e-12 * max(1.0, float(np.abs(values).max()))
    as_large = sum(apart(float(generator.permutation(values)[:n].sum())) >= least for _ in range(resamples))
    return (as_large + 1) / (resamples + 1)
